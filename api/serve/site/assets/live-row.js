import { relative } from "./time.js";

const chainId = document.body.dataset.chain;

/**
 * Tells an event on a chain, or an order, from every other, as the server's rows do. One log may be of many tokens; a
 * cancel's is of one order, whose token may become known later.
 */
export function keyOf(event) {
  const { type, retracts, txHash, logIndex, contract, tokenId, quantity, orderHash } = event;
  const kind = retracts === null ? type : retracts.type;
  if (txHash === null) return `${kind} ${orderHash}`;
  if (kind === "cancel") return `${txHash} ${logIndex}`;
  return `${txHash} ${logIndex} ${contract} ${tokenId} ${quantity}`;
}

/** Texts only: an event's names and numbers never become markup. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const short = (hex) => (hex.length <= 14 ? hex : `${hex.slice(0, 6)}…${hex.slice(-4)}`);
const shortId = (id) => (id.length <= 12 ? id : `${id.slice(0, 5)}…${id.slice(-5)}`);
const page = (...words) => `/${words.map(encodeURIComponent).join("/")}?chainId=${chainId}`;

function link(href, text, attributes = {}) {
  return element("a", { href, ...attributes }, text);
}

const hex = (folder, value) =>
  link(page(folder, value), short(value), { class: "hex", title: value });

const numbers = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 6 });

/** An amount of a currency with unknown decimals is one of its smallest units. */
function price({ price: value, priceWei, currency }) {
  if (priceWei === null) return "–";
  const symbol = currency?.symbol ?? null;
  const [shown, text, title] =
    symbol === null
      ? [Number(priceWei), "smallest units of another currency", `${priceWei} smallest units`]
      : [value, symbol, `${priceWei} wei`];
  const unit = element("span", { class: "unit" }, text);
  const attributes = { class: "amount", value: priceWei, title };
  return element("data", attributes, `${numbers.format(shown)} `, unit);
}

function kind({ type, saleId }) {
  const word = element("span", { class: `kind ${type}` }, type);
  return saleId === null ? word : link(page("sales", saleId), word);
}

/** The collection as another row of the page names it. */
function collection({ contract }, rows) {
  if (contract === null) return "–";
  const named = rows.querySelector(`tr[data-contract="${contract}"] td[data-column="collection"]`);
  return named?.firstElementChild?.cloneNode(true) ?? hex("collections", contract);
}

function token({ contract, tokenId, quantity }) {
  if (contract === null || tokenId === null) return "any";
  const href = page("collections", contract, "tokens", tokenId);
  const name = link(href, `#${shortId(tokenId)}`, { title: `#${tokenId}` });
  if (quantity === null || quantity === "1") return name;
  return element("span", {}, name, ` × ${quantity}`);
}

const cells = {
  kind,
  collection,
  token,
  price,
  from: ({ from }) => (from === null ? "–" : hex("wallets", from)),
  to: ({ to }) => (to === null ? "–" : hex("wallets", to)),
  marketplace: ({ marketplace }) => marketplace ?? "–",
  transaction: ({ txHash }) => (txHash === null ? "signed" : hex("transactions", txHash)),
  time: ({ timestamp }) =>
    element(
      "time",
      { datetime: timestamp, title: timestamp, "data-relative": "" },
      relative(timestamp),
    ),
};

/** A row for an event, with the columns of the table that it is put into. */
export function rowOf(event, rows) {
  const row = element("tr", { "data-key": keyOf(event), class: "arrives" });
  if (event.contract !== null) row.dataset.contract = event.contract;
  const heads = rows.closest("table").querySelectorAll("thead th");
  for (const head of heads) {
    const { column } = head.dataset;
    const name = column === "kind" ? "th" : "td";
    const attributes = { "data-column": column, ...(name === "th" && { scope: "row" }) };
    const cell = element(name, attributes, cells[column](event, rows));
    cell.className = head.className;
    row.append(cell);
  }
  return row;
}
