/** A line under the pointer, or moved by arrow keys, and the values of the nearest row of the chart's first table. */
export function followPointer(figure) {
  const drawing = figure.querySelector(".drawing");
  const reading = figure.querySelector(".reading");
  const marks = [...figure.querySelectorAll("[data-at]")].map((one) => Number(one.dataset.at));
  const table = figure.querySelector(".data table");
  if (marks.length === 0 || table === null) return;
  const heads = [...table.querySelectorAll("thead th")].map((one) => one.textContent);
  const rows = [...table.querySelectorAll("tbody tr")];
  const cursor = document.createElement("span");
  cursor.className = "cursor";
  cursor.hidden = true;
  drawing.append(cursor);
  drawing.tabIndex = 0;
  drawing.setAttribute("role", "group");
  drawing.setAttribute("aria-label", "Chart: move with the arrow keys");
  let at = marks.length - 1;

  const show = (index) => {
    at = Math.max(0, Math.min(marks.length - 1, index));
    cursor.hidden = false;
    cursor.style.left = `${100 * marks[at]}%`;
    const values = [...(rows[at]?.children ?? [])].map(
      (cell, column) => `${heads[column]} ${cell.textContent}`,
    );
    reading.textContent = values.join(" · ");
  };
  const nearest = (share) =>
    marks.reduce(
      (best, mark, index) =>
        Math.abs(mark - share) < Math.abs(marks[best] - share) ? index : best,
      0,
    );
  drawing.addEventListener("pointermove", ({ clientX }) => {
    const { left, width } = drawing.getBoundingClientRect();
    show(nearest((clientX - left) / width));
  });
  drawing.addEventListener("pointerleave", () => {
    cursor.hidden = true;
  });
  drawing.addEventListener("focus", () => {
    reading.setAttribute("aria-live", "polite");
    show(at);
  });
  drawing.addEventListener("blur", () => {
    reading.setAttribute("aria-live", "off");
    cursor.hidden = true;
  });
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    show(at + step);
  });
}
