import type { BrowserContext } from "playwright-core";
import { createWalletClient, type Hex, http, type LocalAccount, type WalletClient } from "viem";
import { accounts } from "#devnet/accounts.ts";
import type { Person, TestChain } from "#test/support/orders/test-chains.ts";

type Request = { method: string; params?: readonly unknown[] };
type Answer = { result: unknown } | { error: { code: number; message: string } };

/** A browser extension's wallet, as far as pages see it (EIP-1193). Keys stay here, outside of the page. */
export type InjectedWallet = {
  /** How often it signed and sent. */
  readonly asked: { signatures: number; transactions: number };
  /** Called after each signature and transaction, before the page hears of it. */
  beforeAnswers(act: (kind: keyof InjectedWallet["asked"]) => unknown): void;
  /** The person says no to the next signature or transaction. */
  refuseNext(): void;
  /** The chain that the wallet says it is on; undefined: the one it is on. */
  showChain(chainId: number | undefined): void;
};

/** What pages run: requests go to the test, which answers as a wallet does. */
const provider = `window.ethereum = {
  on() {},
  removeListener() {},
  async request(request) {
    const { result, error } = await window.askWallet(request);
    if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
    return result;
  },
};`;

export async function injectWallet(
  context: BrowserContext,
  { client, rpcUrl }: TestChain,
  people: readonly Person[],
): Promise<InjectedWallet> {
  const asked = { signatures: 0, transactions: 0 };
  const held = people.map((person): LocalAccount => accounts[person]);
  const wallet = createWalletClient({ chain: client.chain, transport: http(rpcUrl) });
  let act: Parameters<InjectedWallet["beforeAnswers"]>[0] = () => undefined;
  let isRefusing = false;
  let shownChain: number | undefined;

  /** What the person is asked for. */
  async function carryOut(kind: keyof typeof asked, work: () => Promise<Hex>): Promise<Hex> {
    if (isRefusing) {
      isRefusing = false;
      throw Object.assign(new Error("User rejected the request"), { code: 4001 });
    }
    asked[kind] += 1;
    const result = await work();
    await act(kind);
    return result;
  }

  async function answer({ method, params = [] }: Request): Promise<unknown> {
    if (method === "eth_requestAccounts" || method === "eth_accounts")
      return held.map(({ address }) => address);
    if (method === "eth_chainId" && shownChain !== undefined) return `0x${shownChain.toString(16)}`;
    if (method === "eth_signTypedData_v4") return carryOut("signatures", () => sign(held, params));
    if (method === "eth_sendTransaction")
      return carryOut("transactions", () => send(wallet, held, params));
    return wallet.request({ method, params } as never);
  }

  await context.exposeFunction("askWallet", async (request: Request): Promise<Answer> => {
    try {
      return { result: await answer(request) };
    } catch (error) {
      const { code = -32_603, message } = error as Error & { code?: number };
      return { error: { code, message } };
    }
  });
  await context.addInitScript(provider);
  return {
    asked,
    beforeAnswers: (given) => {
      act = given;
    },
    refuseNext: () => {
      isRefusing = true;
    },
    showChain: (chainId) => {
      shownChain = chainId;
    },
  };
}

function ownerOf(held: readonly LocalAccount[], address: unknown): LocalAccount {
  const found = held.find((one) => one.address.toLowerCase() === String(address).toLowerCase());
  if (found === undefined) throw Object.assign(new Error("Not authorized"), { code: 4100 });
  return found;
}

const sign = (held: readonly LocalAccount[], [address, data]: readonly unknown[]): Promise<Hex> =>
  ownerOf(held, address).signTypedData(JSON.parse(String(data)));

type Sent = { from: Hex; to: Hex; data?: Hex; value?: Hex; nonce?: Hex };

function send(
  wallet: WalletClient,
  held: readonly LocalAccount[],
  [sent]: readonly unknown[],
): Promise<Hex> {
  const { from, to, data = "0x", value = "0x0", nonce } = sent as Sent;
  return wallet.sendTransaction({
    ...{ account: ownerOf(held, from), chain: wallet.chain ?? null },
    ...{ to, data, value: BigInt(value) },
    ...(nonce !== undefined && { nonce: Number(nonce) }),
  });
}
