import { make } from "./make.js";
import { field, paragraph } from "./trade-sheet.js";

const pricePattern = "(?=.*[1-9])([0-9]{1,20}([.][0-9]{0,18})?|[.][0-9]{1,18})";

/** Whether the request leaves something open that the person must say. */
export const hasFields = ({ verb, units, needsToken }) =>
  asksPrice.has(verb) || units > 1 || needsToken === true;

const asksPrice = new Set(["list", "listSelected", "offer", "sweep"]);

const priceField = (name, label, value) =>
  field({
    ...{ name, label, value, inputMode: "decimal", pattern: pricePattern },
    title: "A number above 0",
  });

const daysField = ({ days = "30" }) =>
  field({
    ...{ name: "days", label: "Days", value: days },
    ...{ type: "number", min: 1, max: 180, step: 1 },
  });

/** A price for each picked token; `rules`: prices of the market for all of them. */
function pricesView({ picks, coin }, said, rules) {
  const fields = picks.map(({ name }, index) =>
    priceField(`price.${index}`, `${name}, ${coin}`, said[`price.${index}`] ?? ""),
  );
  const inputs = fields.map((one) => one.querySelector("input"));
  const choices = [
    ...rules.map(({ label, prices }) => [label, (index) => prices[index]]),
    ["All as the first", () => inputs[0].value],
  ];
  const buttons = choices.map(([label, prices]) => {
    const button = make("button", { type: "button", textContent: label });
    button.addEventListener("click", () => {
      for (const [index, input] of inputs.entries()) input.value = prices(index) ?? input.value;
    });
    return button;
  });
  return [make("div", { className: "hints" }, ...buttons), ...fields, daysField(said)];
}

/** What the person must say, with what was said before. */
export function fieldsView(request, said, rules = []) {
  const { verb, coin, units, needsToken, hints = [] } = request;
  if (verb === "listSelected") return pricesView(request, said, rules);
  const fields = [];
  if (needsToken) {
    const pattern = "[0-9]{1,78}";
    const value = said.tokenId ?? "";
    fields.push(field({ name: "tokenId", label: "Id of your token", value, pattern }));
  }
  if (asksPrice.has(verb)) {
    const isTotal = verb === "sweep";
    const label = `${isTotal ? "At most, in all" : "Price of a unit"}, ${coin}`;
    const price = priceField("price", label, said.price ?? "");
    const days = daysField(said);
    fields.push(price, hintsView(hints, price.querySelector("input")), isTotal ? "" : days);
  }
  if (units > 1) {
    const most = { type: "number", min: 1, max: units, step: 1 };
    const value = said.quantity ?? "1";
    fields.push(field({ name: "quantity", label: `How many, at most ${units}`, value, ...most }));
  }
  return fields;
}

/** Prices of the market that one may take over. */
function hintsView(hints, input) {
  const buttons = hints.map(([label, price]) => {
    const button = make("button", { type: "button", textContent: `${label}: ${price}` });
    button.addEventListener("click", () => {
      input.value = price;
    });
    return button;
  });
  return make("div", { className: "hints" }, ...buttons);
}

/** What a plan does: who pays and receives what, its steps, what may go wrong, what is missing. */
export function planView(plan, { lines, risks, missing }) {
  const parts = lines.map(({ label, text, address }) => {
    const value = make("dd", {}, text);
    if (address !== undefined) value.append(" ", make("span", { className: "hex" }, address));
    return make("div", {}, make("dt", {}, label), value);
  });
  return [
    ...missing.map((text) => paragraph(text, "notice")),
    make("dl", { className: "details" }, ...parts),
    stepsView(plan),
    make("h3", {}, "What can go wrong"),
    make("ul", {}, ...risks.map((text) => make("li", {}, text))),
  ];
}

const states = { done: "done", skipped: "not needed", failed: "failed" };

/** What a step that goes on waits for. */
const waits = {
  approve: "answer in your wallet",
  revoke: "answer in your wallet",
  wrap: "answer in your wallet",
  send: "answer in your wallet",
  sign: "answer in your wallet",
  confirm: "waiting for the chain",
  post: "publishing",
  sync: "updating",
};

function stateOf({ state, kind, transaction, batch, error, pending, of }, steps) {
  if (state === "failed") return error?.message ?? states.failed;
  // What a contract account was asked for is done once its owners agree.
  if (state === "done" && batch?.ownersSince && !batch.hash) return "asked for";
  if (state !== "in_progress") return states[state] ?? "";
  const sent = steps.find(({ id }) => id === of);
  if (pending !== undefined || (kind === "confirm" && sent?.batch?.ownersSince !== undefined))
    return "waiting for the other owners";
  return transaction?.hash === undefined ? waits[kind] : "sent";
}

/** Steps of a plan with how far they are; not those that are done already. */
export function stepsView({ steps }) {
  const needless = steps.filter((one) => one.isApproved && one.state === "waiting");
  const ids = new Set(needless.map(({ id }) => id));
  const shown = steps.filter(({ id, of }) => !ids.has(id) && !ids.has(of));
  const items = shown.map((step) => {
    const state = make("span", { className: "quiet" }, stateOf(step, steps));
    const item = make("li", {}, step.description, " ", state);
    item.dataset.state = step.state;
    return item;
  });
  return make("ol", { className: "trade-steps" }, ...items);
}

/** Pages of the orders that a plan published. */
export function orderLinks({ verb, chainId }, ids) {
  const path = verb === "offer" ? "bids" : "listings";
  const links = ids.map((id) => {
    const href = `/${path}/${encodeURIComponent(id)}?chainId=${chainId}`;
    return make(
      "li",
      {},
      make("a", { href, textContent: `The ${path === "bids" ? "offer" : "listing"}` }),
    );
  });
  return make("ul", {}, ...links);
}
