/** Keeps an open page current: its content is fetched anew every few seconds while it is seen and not paused. */
const everyMs = 5_000;
const button = document.querySelector("#refresh");

async function refresh() {
  if (document.hidden || button.dataset.state === "paused" || isInUse()) return;
  const answer = await fetch(location.href).catch(() => null);
  if (answer === null || !answer.ok) {
    button.textContent = "No answer: stop refreshing";
    return;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (button.dataset.state === "paused" || isInUse()) return;
  const open = new Set([...document.querySelectorAll("details[open]")].map(({ id }) => id));
  const scrolled = [...document.querySelectorAll(".scroll")].map(({ scrollLeft }) => scrollLeft);
  for (const place of ["#content", "#as-of"]) {
    document.querySelector(place).replaceWith(document.adoptNode(fresh.querySelector(place)));
  }
  for (const one of document.querySelectorAll("details"))
    one.open ||= open.has(one.id) && one.id !== "";
  for (const [index, one] of document.querySelectorAll(".scroll").entries()) {
    one.scrollLeft = scrolled[index] ?? 0;
  }
  button.textContent = "Stop refreshing";
}

/** Somebody reads, selects or types there. */
function isInUse() {
  const { activeElement } = document;
  const selects = String(getSelection()) !== "";
  return selects || (activeElement?.closest("main") ?? null) !== null;
}

if (document.body.dataset.refresh !== undefined) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const isPaused = button.dataset.state === "paused";
    button.dataset.state = isPaused ? "live" : "paused";
    button.textContent = isPaused ? "Stop refreshing" : "Refresh by itself";
  });
  setInterval(refresh, everyMs);
}
for (const select of document.querySelectorAll("select[data-submits]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}
