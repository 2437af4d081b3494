import { formatEther, formatNumber } from "./number.js";
import { relative } from "./time.js";

const { prefix, marketplaces } = document.body.dataset;
/** Marketplaces' names for visitors, by those on the wire. */
const marketplaceNames = new Map(Object.entries(JSON.parse(marketplaces ?? "{}")));

/**
 * Tells an event on a chain, or an order, from every other, as the server's rows do. One log may be of many tokens, of
 * equal ones too, and of sales beside a transfer.
 */
export function keyOf(event) {
  const { type, retracts, saleId, txHash, logIndex, subIndex, orderHash } = event;
  const kind = retracts === null ? type : retracts.type;
  if (txHash === null) return `${kind} ${orderHash}`;
  return kind === "sale" ? `sale ${saleId}` : `${txHash}-${logIndex}-${subIndex}`;
}

const dealOf = ({ type, txHash, contract, tokenId }) =>
  /^(sale|transfer)$/.test(type) ? `${txHash} ${contract} ${tokenId}` : "";

/** Rows of a sale's transfers, or of a transfer's sale. */
export function dealRows(event, rows) {
  const isBy = (row, name) => row.querySelector(`[data-column=${name}] a`)?.title === event[name];
  return [...rows.querySelectorAll(`[data-deal="${dealOf(event)}"][data-key]`)].filter(
    (row) =>
      row.dataset.key.startsWith("sale ") !== (event.type === "sale") &&
      (isBy(row, "from") || isBy(row, "to")),
  );
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
const page = ({ chainId }, ...words) =>
  `/${words.map(encodeURIComponent).join("/")}?chainId=${chainId}`;

function link(href, text, attributes = {}) {
  return element("a", { href, ...attributes }, text);
}

const hex = (event, folder, value) =>
  link(page(event, folder, value), short(value), { class: "hex", title: value });

const quiet = (text) => element("span", { class: "quiet" }, text);

/** Where there is no value. */
const none = () => [
  element("span", { class: "none", "aria-hidden": "true" }, "–"),
  element("span", { class: "unseen" }, "none"),
];

/** An amount of a currency with unknown decimals is one of its smallest units. */
function price({ priceWei, currency }) {
  if (priceWei === null) return none();
  const symbol = currency?.symbol ?? null;
  const value = symbol === null ? priceWei : formatEther(priceWei);
  const title =
    symbol === null ? `${priceWei} smallest units` : `${value} ${symbol} (${priceWei} wei)`;
  const unit = element("span", { class: "unit" }, symbol ?? "smallest units of another currency");
  const attributes = { class: "amount", value: priceWei, title };
  return element("data", attributes, `${formatNumber(Number(value))} `, unit);
}

/** The word links to the page of the row. */
function kind(event) {
  const { type, saleId, orderHash } = event;
  const word = element("span", { class: `kind ${type}` }, type);
  if (saleId !== null) return link(page(event, "sales", saleId), word);
  if (type !== "listing" && type !== "offer") return word;
  return link(page(event, type === "offer" ? "bids" : "listings", `${prefix}-${orderHash}`), word);
}

/** The collection as another row of the page names it. */
function collection(event, rows) {
  if (event.contract === null) return none();
  const named = rows.querySelector(
    `tr[data-contract="${contractOf(event)}"] td[data-column="collection"]`,
  );
  return named?.firstElementChild?.cloneNode(true) ?? hex(event, "collections", event.contract);
}

const contractOf = ({ chainId, contract }) => `${chainId}/${contract}`;

/** The smallest picture, as `kit/media.ts` shows it in rows. */
function withPicture(subject, ...content) {
  const src = `/pictures/${subject}/96`;
  const shown = { width: "36", height: "36", decoding: "async", referrerpolicy: "no-referrer" };
  const image = element("img", { src, alt: "", loading: "lazy", ...shown });
  const media = element("span", { class: "media" }, image);
  return element("span", { class: "named" }, media, element("span", {}, ...content));
}

function token(event) {
  const { contract, tokenId, quantity } = event;
  if (contract === null) return quiet("any");
  if (tokenId === null) return withPicture(contractOf(event), quiet("any"));
  const href = page(event, "collections", contract, "tokens", tokenId);
  const name = link(href, `#${shortId(tokenId)}`, { title: `#${tokenId}` });
  const isOne = quantity === null || quantity === "1";
  return withPicture(
    `${contractOf(event)}/${tokenId}`,
    name,
    ...(isOne ? [] : [" ", quiet(`× ${quantity}`)]),
  );
}

function time({ timestamp }) {
  const title = `${timestamp.replace("T", " ").replace(/(\.\d+)?Z$/, "")} UTC`;
  const attributes = { datetime: timestamp, title, "data-relative": "" };
  return element("time", attributes, relative(timestamp));
}

const cells = {
  kind,
  collection,
  token,
  price,
  chain: ({ chain }) => chain,
  from: (event) => (event.from === null ? quiet("nobody") : hex(event, "wallets", event.from)),
  to: (event) => (event.to === null ? none() : hex(event, "wallets", event.to)),
  marketplace: ({ marketplace }) =>
    marketplace === null ? none() : (marketplaceNames.get(marketplace) ?? marketplace),
  transaction: (event) =>
    event.txHash === null ? quiet("signed") : hex(event, "transactions", event.txHash),
  time,
};

/** A row for an event, as the server makes it, with the columns of the table that it is put into. */
export function rowOf(event, rows) {
  const row = element("tr", { "data-key": keyOf(event), class: "arrives" });
  if (event.contract !== null) row.dataset.contract = contractOf(event);
  const deal = dealOf(event);
  if (deal) row.dataset.deal = deal;
  const heads = rows.closest("table").querySelectorAll("thead th");
  for (const head of heads) {
    const { column } = head.dataset;
    const name = column === "kind" ? "th" : "td";
    const attributes = { "data-column": column, ...(name === "th" && { scope: "row" }) };
    const cell = element(name, attributes, ...[cells[column](event, rows)].flat());
    if (head.className !== "") cell.className = head.className;
    if (head.dataset.label !== undefined) cell.dataset.label = head.dataset.label;
    row.append(cell);
  }
  return row;
}
