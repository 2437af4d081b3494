import { followPointer } from "./chart.js";
import { offerCopies } from "./copy.js";
import { followFeed } from "./live.js";
import { keepTimes } from "./time.js";
import { offerTrades } from "./trade.js";

keepTimes();
offerCopies();
followFeed();
offerTrades();

/** Media that cannot be shown leave their placeholder. */
function hideBroken(image) {
  const hide = () => image.classList.add("broken");
  if (image.complete && image.naturalWidth === 0) hide();
  image.addEventListener("error", hide);
}
for (const image of document.querySelectorAll(".media img")) hideBroken(image);

/** A choice is a request of its own; without scripts the form's button sends it. */
for (const select of document.querySelectorAll("select[data-submits]")) {
  // In the sheet of a phone several choices are one request.
  const send = () => select.closest("[popover]:popover-open") ?? select.form.requestSubmit();
  select.addEventListener("change", send);
}
/** What suggests is loaded by who is about to type. */
const box = document.querySelector(".search [type=search]");
const suggest = async () => (await import("./suggest.js")).offerSuggestions(box);
if (box.matches(":focus")) void suggest();
else box.addEventListener("focus", suggest, { once: true });
for (const figure of document.querySelectorAll(".plot")) followPointer(figure);
