import { make } from "./make.js";

/** The most that are traded at once. */
const most = 50;

/** Boxes on rows that are traded together, and the bar that trades what they pick. */
export function offerPicks(mayTrade, start) {
  const bar = document.querySelector("[data-trade-picks]");
  if (bar === null || !mayTrade(bar.dataset.owner)) return;
  const boxes = [...document.querySelectorAll("input[data-pick]")];
  const count = make("p", { className: "count" });
  count.setAttribute("role", "status");
  const trade = make("button", {
    type: "button",
    className: "primary",
    textContent: bar.dataset.text,
  });
  const clear = make("button", { type: "button", textContent: "Clear" });
  bar.append(count, trade, clear);
  const picked = () => boxes.filter(({ checked }) => checked);
  const show = () => {
    const chosen = picked();
    bar.hidden = chosen.length === 0;
    count.textContent = `${chosen.length} selected`;
    for (const box of boxes) box.disabled = !box.checked && chosen.length >= most;
  };
  for (const box of boxes) {
    box.parentElement.hidden = false;
    box.addEventListener("change", show);
  }
  clear.addEventListener("click", () => {
    for (const box of boxes) box.checked = false;
    show();
    boxes[0]?.focus();
  });
  trade.addEventListener("click", () =>
    start({
      ...JSON.parse(bar.dataset.tradePicks),
      picks: picked().map(({ dataset }) => JSON.parse(dataset.pick)),
    }),
  );
  // A browser that goes back keeps what was checked.
  show();
}
