// A page that is opened from the file system may start no web worker, and without one the search box finds nothing. There, a
// hidden frame runs the worker's script instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc =
        "<script>postMessage = data => parent.postMessage(data, '*')</" + "script>" + `<script src="${url}"></` + "script>";
      this.frame.onload = () => this.start();
      addEventListener("message", event => {
        if (event.source === this.frame.contentWindow)
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
      if (document.body) document.body.append(this.frame);
      else addEventListener("DOMContentLoaded", () => document.body.append(this.frame));
    }

    start() {
      const waiting = this.waiting;
      this.waiting = null;
      waiting.forEach(data => this.postMessage(data));
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
