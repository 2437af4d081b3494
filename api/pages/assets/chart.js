/** Shows the nearest row of the chart's tables at the pointer or, by arrow keys, the next. Points win within 14 pixels. */
export function followPointer(figure) {
  const drawing = figure.querySelector(".drawing");
  const reading = figure.querySelector(".reading");
  const rows = figure.querySelectorAll(".data tbody tr");
  const marks = [...figure.querySelectorAll("[data-at]")]
    .map(({ dataset }, index) => ({ ...dataset, row: rows[index] }))
    .sort((one, other) => one.at - other.at);
  if (marks.length === 0 || rows.length !== marks.length) return;
  const cursor = document.createElement("span");
  cursor.className = "cursor";
  drawing.append(cursor);
  drawing.tabIndex = 0;
  drawing.setAttribute("role", "group");
  drawing.setAttribute("aria-label", "Chart: move with the arrow keys");
  let current = marks.at(-1);

  const show = (mark) => {
    current = mark;
    drawing.classList.add("read");
    cursor.style.left = reading.style.left = `${100 * mark.at}%`;
    reading.classList.toggle("before", mark.at > 0.5);
    const heads = mark.row.closest("table").querySelectorAll("thead th");
    reading.textContent = [...mark.row.children]
      .map((cell, column) => `${heads[column].textContent} ${cell.textContent}`)
      .join(" \u00b7 ");
  };
  const hide = () => drawing.classList.remove("read");
  const open = () => current.row.querySelector("a")?.click();
  drawing.addEventListener("pointermove", ({ clientX, clientY }) => {
    const { left, top, width, height } = drawing.firstElementChild.getBoundingClientRect();
    const apart = ({ at, level }) => {
      const across = Math.abs(at * width + left - clientX);
      return level ? Math.hypot(across, level * height + top - clientY) : across + 14;
    };
    show(marks.reduce((best, mark) => (apart(mark) < apart(best) ? mark : best)));
  });
  drawing.addEventListener("click", open);
  drawing.addEventListener("pointerleave", hide);
  drawing.addEventListener("focus", () => {
    reading.setAttribute("aria-live", "polite");
    show(current);
  });
  drawing.addEventListener("blur", () => {
    reading.setAttribute("aria-live", "off");
    hide();
  });
  drawing.addEventListener("keydown", (event) => {
    if (event.key === "Enter") open();
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    show(marks[marks.indexOf(current) + step] ?? current);
  });
}
