import { lastWallet, openTrade } from "./trade-store.js";

const load = () => import("./trade-flow.js");

/** Shows the buttons that trade, and goes on with what was left; all else is loaded when it is needed. */
export function offerTrades() {
  const { account } = lastWallet.read() ?? {};
  for (const button of document.querySelectorAll("button[data-trade]")) {
    const { trade, owner } = button.dataset;
    button.hidden = owner !== undefined && account !== undefined && !isSame(owner, account);
    button.addEventListener("click", async () => {
      const { startTrade } = await load();
      await startTrade(JSON.parse(trade));
    });
  }
  if (openTrade.read() !== null) void load().then(({ goOn }) => goOn());
}

const isSame = (one, other) => one.toLowerCase() === other.toLowerCase();
