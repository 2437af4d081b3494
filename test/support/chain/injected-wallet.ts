import type { BrowserContext } from "playwright-core";
import {
  BaseError,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  type LocalAccount,
  parseAbi,
  type WalletClient,
} from "viem";
import { multicall3 } from "#abis/deployments.ts";
import { accounts } from "#devnet/accounts.ts";
import type { Person, TestChain } from "../orders/test-chains.ts";

export type WalletRequest = { method: string; params?: readonly unknown[] };
type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } };

/** A browser extension's wallet, as far as pages see it (EIP-1193). Keys stay here, outside of the page. */
export type InjectedWallet = {
  /** How often it signed and sent. */
  readonly asked: { signatures: number; transactions: number };
  /** Called after each signature and transaction, before the page hears of it. */
  beforeAnswers(act: (kind: keyof InjectedWallet["asked"]) => unknown): void;
  /** Called when the person has said yes to calls, before they are sent. */
  beforeCalls(act: () => unknown): void;
  /** The person says no to the next signature or transaction. */
  refuseNext(): void;
  /** The chain that the wallet says it is on; undefined: the one it is on. */
  showChain(chainId: number | undefined): void;
  /** From now on it takes several calls as one transaction (EIP-5792). */
  takeTogether(): void;
  /** Puts the wallet on a chain, as its own menu does. `isForgotten`: of the others it knows none. */
  goTo(chainId: number, isForgotten?: boolean): void;
};

/** What pages run: requests go to the test, which answers as a wallet does. It announces itself (EIP-6963), as do the others, which answer nothing. */
const providerOf = (others: readonly string[]) => `window.ethereum = {
  on() {},
  removeListener() {},
  async request(request) {
    const { result, error } = await window.askWallet(request);
    if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code, data: error.data });
    return result;
  },
};
{
  const info = { uuid: crypto.randomUUID(), name: "Test wallet", icon: "data:,", rdns: "test.wallet" };
  const detail = Object.freeze({ info, provider: window.ethereum });
  const announce = () =>
    window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  window.addEventListener("eip6963:requestProvider", announce);
  announce();
  for (const name of ${JSON.stringify(others)}) {
    const info = { uuid: crypto.randomUUID(), name, icon: "data:,", rdns: name.toLowerCase() };
    const detail = Object.freeze({ info, provider: { request: () => Promise.reject(new Error("locked")) } });
    window.addEventListener("eip6963:requestProvider", () =>
      window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })));
  }
}`;

/** Puts a wallet that answers so into the pages of the context. */
export async function exposeWallet(
  context: BrowserContext,
  answer: (request: WalletRequest) => Promise<unknown>,
  others: readonly string[] = [],
): Promise<void> {
  await context.exposeFunction("askWallet", async (request: WalletRequest): Promise<Answer> => {
    try {
      return { result: await answer(request) };
    } catch (error) {
      const { code = -32_603, message } = error as Error & { code?: number };
      return { error: { code, message, data: revertData(error) } };
    }
  });
  await context.addInitScript(providerOf(others));
}

/** `chains`: those that it knows; it is on the first. `others`: names of further wallets in the browser. */
export async function injectWallet(
  context: BrowserContext,
  chains: readonly Pick<TestChain, "chainId" | "client" | "rpcUrl">[],
  people: readonly Person[],
  others: readonly string[] = [],
): Promise<InjectedWallet> {
  const asked = { signatures: 0, transactions: 0 };
  const held = people.map((person): LocalAccount => accounts[person]);
  const wallets = chains.map(({ client, rpcUrl }) =>
    createWalletClient({ chain: client.chain, transport: http(rpcUrl) }),
  );
  let forgotten = new Set<number>();
  let [wallet] = wallets;
  let act: Parameters<InjectedWallet["beforeAnswers"]>[0] = () => undefined;
  let actBeforeCalls = (): unknown => undefined;
  let isRefusing = false;
  let shownChain: number | undefined;
  let takesTogether = false;
  const taken = new Map<string, Hex>();

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

  function goTo(chainId: number): null {
    const found = wallets.find(({ chain }) => chain?.id === chainId && !forgotten.has(chainId));
    if (found === undefined) throw Object.assign(new Error("Unrecognized chain"), { code: 4902 });
    wallet = found;
    return null;
  }

  function know(chainId: number): null {
    forgotten.delete(chainId);
    return null;
  }

  /** Methods that the wallet itself answers; the node answers the others. */
  const answers: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    eth_requestAccounts: () => held.map(({ address }) => address),
    eth_accounts: () => held.map(({ address }) => address),
    wallet_switchEthereumChain: (params) => goTo(chainIn(params)),
    wallet_addEthereumChain: (params) => know(chainIn(params)),
    eth_signTypedData_v4: (params) => carryOut("signatures", () => sign(held, params)),
    personal_sign: (params) => carryOut("signatures", () => signText(held, params)),
    eth_sendTransaction: (params) =>
      carryOut("transactions", () => sendBy(wallet as WalletClient, held, params)),
    wallet_getCapabilities: () =>
      takesTogether ? { [`0x${wallet?.chain?.id.toString(16)}`]: atomic } : {},
    wallet_sendCalls: (params) => {
      const [{ id }] = params as [Together];
      if (taken.has(id)) throw Object.assign(new Error("Duplicate ID"), { code: 5720 });
      return carryOut("transactions", async () => {
        await actBeforeCalls();
        const hash = await sendTogether(wallet as WalletClient, held, params);
        taken.set(id, hash);
        return hash;
      }).then(() => ({ id }));
    },
    wallet_getCallsStatus: ([id]) => statusOf(taken.get(String(id))),
  };

  async function statusOf(hash: Hex | undefined) {
    if (hash === undefined) throw Object.assign(new Error("Unknown bundle id"), { code: 5730 });
    const request = { method: "eth_getTransactionReceipt", params: [hash] };
    const receipt = (await wallet?.request(request as never)) as { status: Hex } | null;
    if (receipt === null) return { status: 100 };
    return { status: receipt.status === "0x1" ? 200 : 500, atomic: true, receipts: [receipt] };
  }

  async function answer({ method, params = [] }: WalletRequest): Promise<unknown> {
    if (method === "eth_chainId" && shownChain !== undefined) return `0x${shownChain.toString(16)}`;
    const own = answers[method];
    return own === undefined ? wallet?.request({ method, params } as never) : own(params);
  }

  await exposeWallet(context, answer, others);
  return {
    asked,
    beforeAnswers: (given) => {
      act = given;
    },
    beforeCalls: (given) => {
      actBeforeCalls = given;
    },
    refuseNext: () => {
      isRefusing = true;
    },
    showChain: (chainId) => {
      shownChain = chainId;
    },
    takeTogether: () => {
      takesTogether = true;
    },
    goTo(chainId, isForgotten = false) {
      forgotten = new Set();
      goTo(chainId);
      const ids = chains.map((one): number => one.chainId);
      if (isForgotten) forgotten = new Set(ids.filter((id) => id !== chainId));
    },
  };
}

/** What the contract said, as nodes tell it. */
function revertData(error: unknown): unknown {
  const found = error instanceof BaseError && error.walk((one) => dataOf(one) !== undefined);
  return found === false ? undefined : dataOf(found);
}

const dataOf = (error: unknown) => (error as { data?: unknown } | null)?.data;

const chainIn = ([named]: readonly unknown[]): number =>
  Number((named as { chainId: Hex }).chainId);

function ownerOf(held: readonly LocalAccount[], address: unknown): LocalAccount {
  const found = held.find((one) => one.address.toLowerCase() === String(address).toLowerCase());
  if (found === undefined) throw Object.assign(new Error("Not authorized"), { code: 4100 });
  return found;
}

const sign = (held: readonly LocalAccount[], [address, data]: readonly unknown[]): Promise<Hex> =>
  ownerOf(held, address).signTypedData(JSON.parse(String(data)));

const signText = (
  held: readonly LocalAccount[],
  [raw, address]: readonly unknown[],
): Promise<Hex> => ownerOf(held, address).signMessage({ message: { raw: String(raw) as Hex } });

type Sent = { from: Hex; to: Hex; data?: Hex; value?: Hex; nonce?: Hex };

function sendBy(
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

const atomic = { atomic: { status: "supported" } };

type Together = { id: string; from: Hex; calls: { to: Hex; data?: Hex; value?: Hex }[] };

/**
 * As a smart account does: for one transaction its code is that of Multicall3, by which it makes all calls, or none. Gas is
 * not estimated, so that a call that fails is seen on the chain.
 */
async function sendTogether(
  wallet: WalletClient,
  held: readonly LocalAccount[],
  [asked]: readonly unknown[],
): Promise<Hex> {
  const { from, calls } = asked as Together;
  const become = (code: unknown) =>
    wallet.request({ method: "anvil_setCode", params: [from, code] } as never);
  const batch = calls.map(({ to, data = "0x", value = "0x0" }) => ({
    ...{ target: to, allowFailure: false, value: BigInt(value), callData: data },
  }));
  const data = encodeFunctionData({ abi: multicallAbi, args: [batch] });
  const value = batch.reduce((sum, one) => sum + one.value, 0n);
  await become(
    await wallet.request({ method: "eth_getCode", params: [multicall3, "latest"] } as never),
  );
  try {
    return await wallet.sendTransaction({
      ...{ account: ownerOf(held, from), chain: wallet.chain ?? null },
      ...{ to: from, data, value, gas: 3_000_000n },
    });
  } finally {
    await become("0x");
  }
}

const multicallAbi = parseAbi([
  "struct Call3Value { address target; bool allowFailure; uint256 value; bytes callData; }",
  "function aggregate3Value(Call3Value[] calls) payable",
]);
