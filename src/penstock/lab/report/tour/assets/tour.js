// Following a path: point at it, or press it to keep it. Without this script the page says the same, standing still.
for (const panel of document.querySelectorAll(".panel")) {
  const line = panel.querySelector(".traced");
  const rows = [...panel.querySelectorAll("tbody tr")];
  let kept = null;

  const trace = (row) => {
    for (const each of rows) each.classList.toggle("traced", each === row);
    line.setAttribute("points", row ? row.querySelector("button").dataset.points : "");
  };
  const keep = (row) => {
    kept = kept === row ? null : row;
    for (const each of rows) each.querySelector("button").setAttribute("aria-pressed", String(each === kept));
    trace(kept);
  };
  for (const row of rows) {
    row.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") trace(row); });
    row.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") trace(kept); });
    row.addEventListener("click", () => keep(row));
    row.querySelector("button").addEventListener("focus", (event) => { if (event.target.matches(":focus-visible")) trace(row); });
    row.querySelector("button").addEventListener("blur", () => trace(kept));
  }
}

// A moment of training: the gates as they stand then, the outputs, and a line in the chart.
for (const course of document.querySelectorAll(".course")) {
  const { stretches, losses, outputs } = JSON.parse(course.querySelector(".course-data").textContent);
  const control = course.querySelector(".control");
  const slider = course.querySelector("input");
  const said = course.querySelector("output");
  const play = course.querySelector(".play");
  const figures = [...course.querySelectorAll("figure")];
  const charts = [...document.querySelectorAll("#flipping .chart")];
  const words = (value) => Number(value.toPrecision(3)).toString().replace("-", "−");
  control.hidden = false;

  const show = () => {
    const time = Number(slider.value);
    const stretch = stretches.find((each) => time < each.end) ?? stretches[stretches.length - 1];
    const step = Math.floor(time);
    figures.forEach((figure, example) => {
      const open = new Set(stretch.open[example]);
      const edges = new Set(stretch.edges[example]);
      const used = new Set([...edges].map((edge) => { const [layer, , above] = edge.split("-"); return `${Number(layer) + 1}-${above}`; }));
      for (const gate of figure.querySelectorAll(".gate")) {
        const name = gate.dataset.gate;
        gate.classList.toggle("open", open.has(name));
        gate.classList.toggle("used", used.has(name));
        gate.querySelector("text").textContent = open.has(name) ? "1" : "0";
      }
      for (const wire of figure.querySelectorAll(".wire")) wire.classList.toggle("on", edges.has(wire.dataset.edge));
      figure.querySelector("svg").setAttribute("aria-label", stretch.spoken[example]);
      figure.querySelector(".value").textContent = words(outputs[step][example]);
    });
    said.textContent = `step ${time.toFixed(1)}, loss ${words(losses[step])}`;
    for (const chart of charts) {
      const cursor = chart.querySelector(".cursor");
      const [left, right] = [Number(cursor.dataset.left), Number(cursor.dataset.right)];
      const x = left + (right - left) * time / Number(slider.max);
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      chart.classList.add("live");
    }
  };

  let playing = null;
  const stop = () => { cancelAnimationFrame(playing); playing = null; play.textContent = "Play"; };
  const start = () => {
    const from = Number(slider.value) >= Number(slider.max) ? 0 : Number(slider.value);
    const begun = performance.now();
    const run = (now) => {
      slider.value = from + (now - begun) / 200;
      show();
      if (Number(slider.value) < Number(slider.max)) playing = requestAnimationFrame(run);
      else stop();
    };
    play.textContent = "Pause";
    playing = requestAnimationFrame(run);
  };
  play.addEventListener("click", () => (playing === null ? start() : stop()));
  slider.addEventListener("input", () => { if (playing !== null) stop(); show(); });
  show();
}
