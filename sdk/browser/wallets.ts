import { type Address, hexToNumber } from "viem";

/** What a wallet injects into a page (EIP-1193). */
export type Eip1193 = {
  request(request: { method: string; params?: readonly unknown[] }): Promise<unknown>;
};

/** A wallet of this browser. `id`: the same at the next visit. */
type FoundWallet = {
  readonly id: string;
  readonly name: string;
  readonly provider: Eip1193;
};

/** The page's window, as far as wallets show themselves in it. */
type WalletHost = Pick<EventTarget, "addEventListener" | "dispatchEvent"> & {
  readonly ethereum?: Eip1193;
};

type Announced = { readonly info: { readonly rdns: string; readonly name: string } } & Pick<
  FoundWallet,
  "provider"
>;

/** Those that are there answer at once; those that load later announce themselves. */
const announcementMs = 300;

/** Wallets that announce themselves (EIP-6963); where none does, the one that is injected. */
export async function findWallets(host: WalletHost): Promise<readonly FoundWallet[]> {
  const found = new Map<string, FoundWallet>();
  host.addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = (event as unknown as { detail: Announced }).detail;
    found.set(info.rdns, { id: info.rdns, name: info.name.slice(0, 40), provider });
  });
  host.dispatchEvent(new Event("eip6963:requestProvider"));
  if (found.size === 0) await new Promise((resolve) => setTimeout(resolve, announcementMs));
  if (found.size > 0) return [...found.values()];
  if (host.ethereum === undefined) return [];
  return [{ id: "injected", name: "The browser's wallet", provider: host.ethereum }];
}

/** The account that the wallet lets the page use; asks for it where `mayAsk`. */
export async function connectedAccount(
  provider: Eip1193,
  mayAsk: boolean,
): Promise<Address | undefined> {
  const method = mayAsk ? "eth_requestAccounts" : "eth_accounts";
  const accounts = (await provider.request({ method })) as readonly Address[];
  return accounts[0];
}

/** The id of the chain that the wallet is on. */
export const walletChain = async (provider: Eip1193): Promise<number> =>
  hexToNumber((await provider.request({ method: "eth_chainId" })) as Address);

/** The code that a wallet gave (EIP-1193, EIP-1474), wherever it stands in an error. */
export function rpcCodeOf(error: unknown): number | undefined {
  let one: unknown = error;
  for (let depth = 0; depth < 10 && typeof one === "object" && one !== null; depth += 1) {
    const { code, cause, data } = one as { code?: unknown; cause?: unknown; data?: unknown };
    const inner = (data as { originalError?: { code?: unknown } } | null | undefined)
      ?.originalError;
    if (typeof inner?.code === "number") return inner.code;
    if (typeof code === "number") return code;
    one = cause;
  }
  return undefined;
}
