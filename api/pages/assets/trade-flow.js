import {
  chainNameOf,
  connectedAccount,
  explain,
  findWallets,
  openWallet,
  postedIds,
  switchChain,
  walletChain,
} from "./client.js";
import { make } from "./make.js";
import { openSheet, paragraph } from "./trade-sheet.js";
import { lastWallet, openTrade } from "./trade-store.js";
import { fieldsView, hasFields, orderLinks, planView, stepsView } from "./trade-views.js";

const again = ["again", "Try again"];
const forget = ["forget", "Forget it"];
const ways = {
  none: [],
  later: [["again", "Look again"], forget],
  new_plan: [["new_plan", "Make a new plan"]],
  new_price: [["new_price", "Show the new price"]],
};

/** From a button to its end. */
export const startTrade = (request) =>
  inOneTab(async () => {
    const left = openTrade.read();
    await (left === null ? withSheet((sheet) => follow(sheet, request)) : takeUp(left));
  });

/** Goes on with the trade that an earlier page began; what waits for other owners, when it is asked to. */
export async function goOn() {
  const left = openTrade.read();
  if (left !== null && awaitsOwners(left.plan)) await untilShown(left.request);
  await inOneTab(async () => {
    const now = openTrade.read();
    if (now !== null) await takeUp(now);
  });
}

/** For hours or days. */
const awaitsOwners = ({ steps }) =>
  steps.some(
    ({ pending, batch }) =>
      pending !== undefined || (batch?.ownersSince && batch.taken && !batch.hash),
  );

/** It is in nobody's way. */
function untilShown({ title }) {
  const show = make("button", { type: "button", textContent: "Show it" });
  const text = paragraph(`${title}: waiting for the other owners.`);
  const bar = make("div", { className: "picks" }, text, show);
  document.querySelector("main").append(bar);
  return new Promise((resolve) => {
    show.addEventListener("click", () => {
      bar.remove();
      resolve();
    });
  });
}

/** Two tabs would do the same plan twice: one waits for the other. Without secure context there are no locks. */
const inOneTab = (work) =>
  navigator.locks === undefined ? work() : navigator.locks.request("trade", work);

async function withSheet(work) {
  const sheet = openSheet();
  try {
    await work(sheet);
  } catch (error) {
    await fail(sheet, error);
  } finally {
    sheet.close();
  }
}

/** Says what went wrong. What the person chose: a way on, or null. */
async function fail(sheet, error, more = []) {
  const { title, text, way } = explain(error);
  const choices = ways[way] ?? [[way, again[1]]];
  const answer = await sheet.ask({ title, body: [paragraph(text), ...more], choices });
  return answer?.choice ?? null;
}

async function follow(sheet, request) {
  const wallet = await connect(sheet, request.chainId);
  if (wallet === null) return;
  let [asked, fields] = [request, null];
  for (;;) {
    fields ??= await askFields(sheet, wallet, asked);
    if (fields === null) return;
    const way = await planAndRun(sheet, wallet, asked, fields);
    if (way === null) return;
    if (way === "new_price") asked = { ...asked, unitPriceWei: undefined, netWei: undefined };
    if (way === "new_plan") {
      asked = { ...asked, said: fields };
      fields = null;
    }
  }
}

/** What the request leaves open, by the person; null: the person gave up. */
async function askFields(sheet, { session }, request) {
  if (!hasFields(request)) return {};
  const choices = [["go", "Make the plan"]];
  // Prices of the market help; without them the person names some.
  const rules =
    request.picks === undefined ? [] : await session.suggest(request.picks).catch(() => []);
  const body = fieldsView(request, request.said ?? {}, rules);
  const answer = await sheet.ask({ title: request.title, body, choices });
  return answer?.fields ?? null;
}

async function planAndRun(sheet, wallet, request, fields) {
  const { title, chainId } = request;
  const { id: walletId, session } = wallet;
  let plan;
  let body;
  let isCovered;
  try {
    sheet.tell({ title, body: [paragraph("Making the plan …")] });
    if (!(await reachChain(sheet, wallet, chainId))) return null;
    plan = await session.plan(request, fields);
    const summary = await session.describe(plan);
    isCovered = summary.missing.length === 0;
    body = planView(plan, summary);
  } catch (error) {
    return fail(sheet, error);
  }
  const choices = [isCovered ? ["go", "Go on in the wallet"] : ["again", "Look again"]];
  const answer = await sheet.ask({ title, body, choices });
  if (answer?.choice !== "go") return answer?.choice ?? null;
  return carryOut(sheet, wallet, { request, plan, walletId });
}

/** Carries out a plan, which is stored at each change. */
async function carryOut(sheet, wallet, trade) {
  const { request } = trade;
  let { plan } = trade;
  const store = (now) => {
    plan = now;
    openTrade.write({ ...trade, plan });
  };
  for (;;) {
    const way = await runShown(sheet, wallet.session, request.title, plan, store).then(
      () => end(sheet, request, plan),
      (error) => fail(sheet, error, [stepsView(plan)]),
    );
    if (isForgotten(way, plan)) openTrade.clear();
    if (!goesOnWith(way)) return way === "forget" ? null : way;
    if (!(await reachChain(sheet, wallet, request.chainId))) return null;
  }
}

const goesOnWith = (way) => way === "again" || way === "switch";

/** What was signed or sent is gone on with; what was not leaves nothing behind. */
const isForgotten = (way, plan) => (way === null ? !hasBegun(plan) : !goesOnWith(way));

const hasBegun = ({ steps }) =>
  steps.some(
    ({ transaction, batch, pending, signatures = [] }) =>
      transaction?.hash || batch || pending || signatures.length > 0,
  );

async function runShown(sheet, session, title, plan, store) {
  let list = stepsView(plan);
  const text = "You may close this: it goes on while the page is open, and after a reload.";
  sheet.tell({ title, body: [list, paragraph(text, "about")] });
  store(plan);
  const onStep = (_, now) => {
    store(now);
    const next = stepsView(now);
    list.replaceWith(next);
    list = next;
  };
  store(await session.run(plan, { onStep }));
}

async function end(sheet, request, plan) {
  openTrade.clear();
  const body = [stepsView(plan), orderLinks(request, postedIds(plan))];
  const choices = [["reload", "Show the page as it is now"]];
  const answer = await sheet.ask({ title: `${request.title}: done`, body, choices });
  if (answer !== null) location.reload();
  return null;
}

/** A trade that an earlier page, or this one, left. */
const takeUp = (trade) =>
  withSheet(async (sheet) => {
    const { request, plan } = trade;
    const quiet = await reconnect(trade);
    const hasFailed = plan.steps.some(({ state }) => state === "failed");
    if ((quiet === undefined || hasFailed) && !(await mayGoOn(sheet, trade))) return;
    const wallet = quiet ?? (await connect(sheet, request.chainId));
    const way = wallet === null ? null : await carryOut(sheet, wallet, trade);
    if (way !== null) await follow(sheet, request);
  });

async function mayGoOn(sheet, { request: { title }, plan }) {
  const choices = [["go", "Go on"], forget];
  const body = [paragraph("This trade is not done yet."), stepsView(plan)];
  const answer = await sheet.ask({ title, body, choices });
  if (answer?.choice === "forget") openTrade.clear();
  return answer?.choice === "go";
}

/** The wallet of the trade, where it lets the page use it without asking. */
async function reconnect({ walletId, request, plan }) {
  const found = (await findWallets(window)).find(({ id }) => id === walletId);
  if (found === undefined) return undefined;
  const account = await connectedAccount(found.provider, false).catch(() => undefined);
  if (account?.toLowerCase() !== plan.account.toLowerCase()) return undefined;
  return sessionOf(found, account, request.chainId);
}

function sessionOf({ id, name, provider }, account, chainId) {
  const session = openWallet({ provider, account, chainId, url: location.origin });
  return { id, name, provider, session };
}

/** A wallet that lets the page use an account, on the chain; null: the person gave up. */
async function connect(sheet, chainId) {
  for (;;) {
    const found = await chooseWallet(sheet);
    if (found === null) return null;
    try {
      const body = [paragraph(`Answer in ${found.name}.`)];
      sheet.tell({ title: "Connect your wallet", body });
      const account = await connectedAccount(found.provider, true);
      const wallet = sessionOf(found, account, chainId);
      lastWallet.write({ id: found.id, account });
      return (await reachChain(sheet, wallet, chainId)) ? wallet : null;
    } catch (error) {
      if ((await fail(sheet, error)) === null) return null;
    }
  }
}

async function chooseWallet(sheet) {
  for (;;) {
    const found = await findWallets(window);
    const last = found.find(({ id }) => id === lastWallet.read()?.id);
    const only = found.length === 1 ? found[0] : last;
    if (only !== undefined) return only;
    const answer = await sheet.ask(found.length === 0 ? noWallet : whichWallet(found));
    if (answer === null) return null;
    const chosen = found.find(({ id }) => id === answer.choice);
    if (chosen !== undefined) return chosen;
  }
}

const whichWallet = (found) => ({
  title: "Which wallet?",
  body: [],
  choices: found.map(({ id, name }) => [id, name]),
});

const noWalletText =
  "Install or unlock a wallet, such as a browser extension, or open this page in a wallet's own browser. Everything that is traded here can also be traded by the API: the page shows how.";
const noWallet = {
  title: "No wallet in this browser",
  body: [paragraph(noWalletText)],
  choices: [again],
};

/** Whether the wallet is on the chain in the end. */
async function reachChain(sheet, { provider }, chainId) {
  for (;;) {
    try {
      const current = await walletChain(provider);
      if (current === chainId) return true;
      const [is, should] = [chainNameOf(current), chainNameOf(chainId)];
      const title = "The wallet is on another chain";
      const body = [paragraph(`It is on ${is}, and this trade is on ${should}.`)];
      const answer = await sheet.ask({ title, body, choices: [["switch", `Switch to ${should}`]] });
      if (answer === null) return false;
      await switchChain(provider, chainId);
    } catch (error) {
      if ((await fail(sheet, error)) === null) return false;
    }
  }
}
