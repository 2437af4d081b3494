import { keyOf, rowOf } from "./live-row.js";

const types = ["sale", "transfer", "mint", "burn", "listing", "offer", "cancel", "retracted"];
const maxRows = 100;
/** Milliseconds for which a retracted row is shown, and for which it leaves. */
const shownMs = 4_000;
const leavingMs = 1_500;

/** Follows the feed into the page's table of activity, while the page is seen and its reader does not pause it. */
export function followFeed() {
  const { live: url, token, contracts, after } = document.body.dataset;
  const rows = document.getElementById("live-rows");
  const box = document.getElementById("live");
  if (url === undefined || rows === null || box === null) return;
  const state = box.querySelector(".state");
  const button = box.querySelector("button");
  let last = after;
  let source;
  let isPaused = false;
  let arrived = 0;

  const show = (name, text) => {
    box.dataset.state = name;
    if (state.textContent !== text) state.textContent = text;
  };
  const showLive = () => show("live", arrived === 0 ? "live" : `live, ${arrived} new`);

  const receive = ({ data, lastEventId }) => {
    last = lastEventId || last;
    const event = camelCase(JSON.parse(data));
    if (!isOfPage(event, { token, contracts })) return;
    if (event.type === "retracted") {
      retract(rows, keyOf(event));
      return;
    }
    if (findRow(rows, keyOf(event)) !== undefined) return;
    rows.prepend(rowOf(event, rows));
    while (rows.children.length > maxRows) rows.lastElementChild.remove();
    arrived += 1;
    showLive();
  };
  const open = () => {
    if (isPaused || document.hidden || source !== undefined) return;
    source = new EventSource(last === undefined ? url : `${url}&after=${encodeURIComponent(last)}`);
    source.addEventListener("open", showLive);
    source.addEventListener("error", () => show("waiting", "reconnecting"));
    for (const type of types) source.addEventListener(type, receive);
  };
  const close = () => {
    source?.close();
    source = undefined;
  };
  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.textContent = isPaused ? "Go on" : "Pause";
    if (isPaused) {
      close();
      show("paused", "paused");
    } else open();
  });
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  box.hidden = false;
  open();
}

/** The stream names fields as the account API does. */
const camelCase = (event) =>
  Object.fromEntries(
    Object.entries(event).map(([name, value]) => [
      name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase()),
      value,
    ]),
  );

/** Whether an event of the stream is about the page's token or contracts. */
function isOfPage(event, { token, contracts }) {
  if (token !== undefined && event.tokenId !== token) return false;
  return contracts === undefined || contracts.split(" ").includes(event.contract);
}

const findRow = (rows, key) => [...rows.children].find((row) => row.dataset.key === key);

/** What did not happen after all is struck through, then leaves. */
function retract(rows, key) {
  for (const row of [...rows.children].filter((one) => one.dataset.key === key)) {
    row.classList.add("retracted");
    setTimeout(() => row.classList.add("leaves"), shownMs);
    setTimeout(() => row.remove(), shownMs + leavingMs);
  }
}
