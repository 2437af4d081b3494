/** A value that outlives the page, where the browser keeps any. */
function place(name) {
  const attempt = (act) => {
    try {
      return act();
    } catch {
      return null;
    }
  };
  return {
    read: () => attempt(() => JSON.parse(localStorage.getItem(name))),
    write: (value) => attempt(() => localStorage.setItem(name, JSON.stringify(value))),
    clear: () => attempt(() => localStorage.removeItem(name)),
  };
}

/** The wallet that was used last: `id`, `account`. */
export const lastWallet = place("wallet");

/** The trade that is not done yet: `request`, `plan`, `walletId`. */
export const openTrade = place("trade");
