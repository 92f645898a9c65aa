// The gates of a layer at an epoch. Without this script the last epoch of one layer stands there.
for (const film of document.querySelectorAll(".film")) {
  const { units, reels } = JSON.parse(film.querySelector(".film-data").textContent);
  const slider = film.querySelector("#epoch");
  const said = film.querySelector("output");
  const play = film.querySelector(".film-play");
  const layers = [...film.querySelectorAll("input[name=layer]")];
  const pictures = [...film.querySelectorAll(".reel")];
  film.querySelector(".film-control").hidden = false;

  const bytes = reels.map((reel) => reel.map((layer) => Uint8Array.from(atob(layer), (each) => each.charCodeAt(0))));
  const share = (count, all) => `${(100 * count / all).toFixed(1)}`;
  const runs = (cells, across) => {
    let path = "";
    for (let row = 0; row < units; row += 1) {
      for (let at = 0; at < across; at += 1) {
        const first = at;
        while (at < across && cells(row * across + at)) at += 1;
        if (at > first) path += `M${first} ${row}h${at - first}v1h-${at - first}z`;
      }
    }
    return path;
  };

  const draw = (picture, packed, layer, epoch) => {
    const across = picture.viewBox.baseVal.width;
    const cells = units * across;
    const bit = (look, cell) => { const at = look * cells + cell; return (packed[at >> 3] >> (7 - (at & 7))) & 1; };
    const looks = Math.floor(packed.length * 8 / cells);
    const look = Math.min(epoch, looks - 1);
    const now = (cell) => bit(look, cell);
    const start = (cell) => bit(0, cell);
    picture.querySelector(".kept").setAttribute("d", runs((cell) => now(cell) && start(cell), across));
    picture.querySelector(".opened").setAttribute("d", runs((cell) => now(cell) && !start(cell), across));
    picture.querySelector(".shut").setAttribute("d", runs((cell) => !now(cell) && start(cell), across));
    let [open, changed] = [0, 0];
    for (let cell = 0; cell < cells; cell += 1) { open += now(cell); changed += now(cell) ^ start(cell); }
    picture.parentElement.querySelector(".changed").textContent = `${share(changed, cells)} %`;
    picture.setAttribute("aria-label", `${picture.dataset.name}, layer ${layer + 1}, epoch ${epoch}: ${share(open, cells)} percent of these gates are open, ${share(changed, cells)} percent changed since the start`);
  };

  const show = () => {
    const [epoch, layer] = [Number(slider.value), layers.findIndex((each) => each.checked)];
    pictures.forEach((picture, place) => draw(picture, bytes[place][layer], layer, epoch));
    said.textContent = `epoch ${epoch}`;
  };

  let playing = null;
  const stop = () => { clearInterval(playing); playing = null; play.textContent = "Play"; };
  const start = () => {
    if (slider.value === slider.max) { slider.value = 0; show(); }
    playing = setInterval(() => {
      slider.value = Number(slider.value) + 1;
      show();
      if (slider.value === slider.max) stop();
    }, 400);
    play.textContent = "Pause";
  };
  play.addEventListener("click", () => (playing === null ? start() : stop()));
  slider.addEventListener("input", () => { if (playing !== null) stop(); show(); });
  for (const layer of layers) layer.addEventListener("change", show);
  show();
}
