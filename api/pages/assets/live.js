import { dealRows, keyOf, rowOf } from "./live-row.js";

const types = ["sale", "transfer", "mint", "burn", "listing", "offer", "cancel", "retracted"];
const maxRows = 100;
/** Milliseconds for which a retracted row is shown, and for which it leaves. */
const shownMs = 4_000;
const leavingMs = 1_500;
/** Milliseconds after which a refused stream is asked for again, drawn anew for each page. */
const minRetryMs = 5_000;
const maxRetryMs = 10_000;
/** Status of a place that the feed does not have: one of another log. */
const lostStatus = 422;

/** Follows the feed into the page's table of activity, while the page is seen and its reader does not pause it. */
export function followFeed() {
  const { live, token, contracts } = document.body.dataset;
  const rows = document.getElementById("live-rows");
  const box = document.getElementById("live");
  if (live === undefined || rows === null || box === null) return;
  const state = box.querySelector(".state");
  // Apart from the state, which screen readers announce when it changes: not every event.
  const count = box.querySelector(".count");
  const button = box.querySelector("button");
  let isPaused = false;
  let arrived = 0;

  const show = (name, text) => {
    box.dataset.state = name;
    if (state.textContent !== text) state.textContent = text;
  };
  const showLive = () => show("live", "live");

  const receive = (event) => {
    if (!isOfPage(event, { token, contracts })) return;
    if (event.type === "retracted") {
      retract(rows, keyOf(event));
      return;
    }
    if (!insert(event, rows)) return;
    arrived += 1;
    count.textContent = `${arrived} new`;
  };
  const onFailure = () => show("waiting", "reconnecting");
  // What happened meanwhile is on the page as it is now, with the feed's end of now.
  const onLost = () => location.reload();
  const streams = JSON.parse(live).map(({ url, after, ...chain }) =>
    openStream(url, {
      ...{ after, onOpen: showLive, onFailure, onLost },
      receive: (event) => receive({ ...event, ...chain }),
    }),
  );
  const open = () => {
    if (!isPaused && !document.hidden) for (const stream of streams) stream.open();
  };
  const close = () => {
    for (const stream of streams) stream.close();
  };
  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.textContent = isPaused ? "Resume" : "Pause";
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

/** Events after a place, each received once however often the stream is closed and opened. */
function openStream(url, { after, onOpen, onFailure, onLost, receive }) {
  let last = after;
  let source;
  let retry;
  let asked;

  const address = () => (last === undefined ? url : `${url}&after=${encodeURIComponent(last)}`);
  const open = () => {
    if (source !== undefined) return;
    stopRetrying();
    source = new EventSource(address());
    source.addEventListener("open", onOpen);
    source.addEventListener("error", fail);
    for (const type of types) source.addEventListener(type, take);
  };
  const close = () => {
    stopRetrying();
    source?.close();
    source = undefined;
  };
  const take = ({ data, lastEventId }) => {
    last = lastEventId || last;
    receive(camelCase(JSON.parse(data)));
  };
  /** After an answer other than 200, such as while the API restarts, the browser never tries again. */
  const fail = ({ target }) => {
    onFailure();
    if (target.readyState !== EventSource.CLOSED) return;
    close();
    retryLater();
  };
  const retryLater = () => {
    retry = setTimeout(ask, minRetryMs + Math.random() * (maxRetryMs - minRetryMs));
  };
  /** An event source does not tell with which status it was refused. */
  const ask = async () => {
    asked = new AbortController();
    const { signal } = asked;
    const request = fetch(address(), { method: "HEAD", signal });
    const status = await request.then((answer) => answer.status).catch(() => 0);
    if (signal.aborted) return;
    if (status === lostStatus) onLost();
    else if (status === 200) open();
    else retryLater();
  };
  const stopRetrying = () => {
    clearTimeout(retry);
    asked?.abort();
  };
  return { open, close };
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

/** Adds a row, unless it or its sale is there. */
function insert(event, rows) {
  const others = dealRows(event, rows);
  const isSold = event.type === "transfer" && others.length > 0;
  if (isSold || findRow(rows, keyOf(event)) !== undefined) return false;
  for (const row of others) row.remove();
  rows.prepend(rowOf(event, rows));
  const { nextElementSibling: below } = rows.closest(".scroll");
  if (below?.matches(".empty")) below.remove();
  while (rows.children.length > maxRows) rows.lastElementChild.remove();
  return true;
}

const findRow = (rows, key) => [...rows.children].find((row) => row.dataset.key === key);

/** What did not happen after all is struck through, then leaves. Without its key: it may happen again meanwhile. */
function retract(rows, key) {
  for (const row of [...rows.children].filter((one) => one.dataset.key === key)) {
    delete row.dataset.key;
    row.classList.add("retracted");
    setTimeout(() => row.classList.add("leaves"), shownMs);
    setTimeout(() => row.remove(), shownMs + leavingMs);
  }
}
