import { type Account, createWalletClient, http, type PublicClient, type WalletClient } from "viem";
import { toAccount } from "viem/accounts";
import { accounts } from "#devnet/accounts.ts";
import { type Market, market } from "#sdk/src/index.ts";
import {
  type Plan,
  postedIds,
  type Trader,
  type TraderOptions,
  trader,
} from "#sdk/src/viem/index.ts";
import { seeingWrites } from "#test/support/http/seeing-writes.ts";
import type { Person, TestChain } from "#test/support/orders/test-chains.ts";

/** What left a wallet. */
type Signed = { orders: number; transactions: number };

export type Caller = {
  api: Market;
  trader: Trader;
  account: Account;
  wallet: WalletClient;
  signed: Signed;
};

type CallerOptions = { fetch?: typeof globalThis.fetch } & Partial<TraderOptions>;

/** A person with the client and a wallet of their own, which signs what it sends. */
export function openCaller(
  testChain: TestChain,
  person: Person,
  { fetch, ...options }: CallerOptions = {},
): Caller {
  const { baseUrl, chainId, client, rpcUrl } = testChain;
  const api = market({
    url: baseUrl,
    chainId,
    fetch: seeingWrites(`${baseUrl} ${chainId}`, fetch),
  });
  const signed: Signed = { orders: 0, transactions: 0 };
  const account = counting(accounts[person], signed);
  const { chain } = client;
  const wallet = createWalletClient({
    account,
    chain,
    transport: http(rpcUrl, { timeout: 120_000 }),
  });
  const publicClient = client as unknown as PublicClient;
  return {
    api,
    trader: trader(api, { walletClient: wallet, publicClient, ...options }),
    account,
    wallet,
    signed,
  };
}

function counting(inner: (typeof accounts)["alice"], signed: Signed): Account {
  return toAccount({
    address: inner.address,
    signMessage: inner.signMessage,
    signTypedData: (data) => {
      signed.orders += 1;
      return inner.signTypedData(data);
    },
    signTransaction: (...args) => {
      signed.transactions += 1;
      return inner.signTransaction(...args);
    },
  });
}

/** The only order that a plan posted. */
export function postedId(plan: Plan): string {
  const [id, ...more] = postedIds(plan);
  if (id === undefined || more.length > 0) throw new Error(`one order: ${JSON.stringify(plan)}`);
  return id;
}

/** How the steps of a plan ended. */
export const statesOf = (plan: Plan) => plan.steps.map(({ kind, state }) => `${kind} ${state}`);

/** A server whose answers to some paths are altered: `data` is replaced by what `alter` makes of it. */
export function answering(path: RegExp, alter: (data: never) => unknown): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isOther = !path.test(new URL(String(input)).pathname);
    // A busy service is asked again.
    if (isOther || response.status === 503) return response;
    const body = (await response.json()) as { data?: unknown };
    return Response.json({ ...body, data: alter(body.data as never) });
  };
}
