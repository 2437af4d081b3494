import { field, make, paragraph } from "./trade-sheet.js";

const pricePattern = "(?=.*[1-9])([0-9]{1,20}([.][0-9]{0,18})?|[.][0-9]{1,18})";

/** Whether the request leaves something open that the person must say. */
export const hasFields = ({ verb, units, needsToken }) =>
  asksPrice.has(verb) || units > 1 || needsToken === true;

const asksPrice = new Set(["list", "offer", "sweep"]);

/** What the person must say, with what was said before. */
export function fieldsView({ verb, coin, units, needsToken, hints = [] }, said) {
  const fields = [];
  if (needsToken) {
    const pattern = "[0-9]{1,78}";
    const value = said.tokenId ?? "";
    fields.push(field({ name: "tokenId", label: "Id of your token", value, pattern }));
  }
  if (asksPrice.has(verb)) {
    const isTotal = verb === "sweep";
    const price = field({
      ...{
        name: "price",
        label: `${isTotal ? "At most, in all" : "Price of a unit"}, ${coin}`,
        value: said.price ?? "",
      },
      ...{ inputMode: "decimal", pattern: pricePattern, title: "A number above 0" },
    });
    const days = field({
      ...{ name: "days", label: "Days", value: said.days ?? "30" },
      ...{ type: "number", min: 1, max: 180, step: 1 },
    });
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
  send: "answer in your wallet",
  sign: "answer in your wallet",
  confirm: "waiting for the chain",
  post: "publishing",
  sync: "updating",
};

function stateOf({ state, kind, transaction, error }) {
  if (state === "failed") return error?.message ?? states.failed;
  if (state !== "in_progress") return states[state] ?? "";
  return transaction?.hash === undefined ? waits[kind] : "sent";
}

/** Steps of a plan with how far they are; not those that are done already. */
export function stepsView({ steps }) {
  const needless = steps.filter((one) => one.isApproved && one.state === "waiting");
  const ids = new Set(needless.map(({ id }) => id));
  const shown = steps.filter(({ id, of }) => !ids.has(id) && !ids.has(of));
  const items = shown.map((step) => {
    const state = make("span", { className: "quiet" }, stateOf(step));
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
