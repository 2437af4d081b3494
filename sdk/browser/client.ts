import {
  type Address,
  createClient,
  custom,
  erc20Abi,
  type PublicClient,
  type WalletClient,
} from "viem";
import {
  call,
  estimateGas,
  getBalance,
  getBlock,
  getBlockNumber,
  getChainId,
  getCode,
  getGasPrice,
  getLogs,
  getTransactionCount,
  getTransactionReceipt,
  readContract,
  sendTransaction,
  signTypedData,
  waitForTransactionReceipt,
} from "viem/actions";
import type { ChainId } from "../src/chains.ts";
import { market } from "../src/index.ts";
import { bidCurrency } from "../src/viem/exchange.ts";
import { type Plan, postedIds, type RunOptions, trader } from "../src/viem/index.ts";
import { canSendTogether, stepsTogether } from "../src/viem/run/batch.ts";
import { isContractAccount } from "../src/viem/run/contract-account.ts";
import { chainOf } from "./chains.ts";
import { guardWallet } from "./guard.ts";
import { planRequest, type TradeFields, type TradeRequest } from "./requests.ts";
import { type ListedToken, type PriceRule, suggestPrices } from "./suggest.ts";
import { type PlanSummary, readParties, summaryOf } from "./summary.ts";
import type { Eip1193 } from "./wallets.ts";
import { explain } from "./words.ts";

/** A wallet of the browser on a chain of the market: all that the pages' scripts need. */
export type WalletSession = {
  /** Nothing is signed or sent. */
  plan(request: TradeRequest, fields: TradeFields): Promise<Plan>;
  /** What the plan does, for people, and what the wallet lacks for it. */
  describe(plan: Plan): Promise<PlanSummary>;
  /** Prices of the market for tokens that are to be listed. */
  suggest(tokens: readonly ListedToken[]): Promise<readonly PriceRule[]>;
  /** Carries out what is not done yet; the wallet is asked for what this plan shows, and for nothing else. */
  run(plan: Plan, options: RunOptions): Promise<Plan>;
};

type Opening = {
  readonly provider: Eip1193;
  readonly account: Address;
  readonly chainId: ChainId;
  /** Address of the API. */
  readonly url: string;
};

export function openWallet({ provider, account, chainId, url }: Opening): WalletSession {
  const api = market({ url, chainId });
  const traderOf = (plan: Plan | null) =>
    trader(api, clientsOf(guardWallet(provider, plan), account, chainId));
  const reading = clientsOf(guardWallet(provider, null), account, chainId);
  const { publicClient, walletClient: wallet } = reading;
  return {
    plan: (request, fields) => planRequest(traderOf(null).plan, request, fields),
    async describe(plan) {
      const wrapped = bidCurrency[chainId];
      const query = { abi: erc20Abi, functionName: "balanceOf", args: [account] } as const;
      const steps = stepsTogether(plan).length;
      const [native, coins, parties, asOne, hasOwners] = await Promise.all([
        publicClient.getBalance({ address: account }),
        publicClient.readContract({ address: wrapped, ...query }),
        readParties(api, plan),
        steps > 1 && canSendTogether(wallet, account, chainId),
        isContractAccount(publicClient, account),
      ]);
      const state = { native, wrapped: coins, asOne: asOne ? steps : 0, hasOwners };
      return summaryOf(plan, state, parties);
    },
    suggest: (tokens) => suggestPrices(api, tokens),
    run: (plan, options) => traderOf(plan).run(plan, options),
  };
}

/** What the client calls of viem's two clients, and nothing more: pages load it. */
const actions = {
  call,
  estimateGas,
  getBalance,
  getBlock,
  getBlockNumber,
  getChainId,
  getCode,
  getGasPrice,
  getLogs,
  getTransactionCount,
  getTransactionReceipt,
  readContract,
  sendTransaction,
  signTypedData,
  waitForTransactionReceipt,
};

type ViemClients = { readonly walletClient: WalletClient; readonly publicClient: PublicClient };

function clientsOf(provider: Eip1193, account: Address, chainId: ChainId): ViemClients {
  const client = createClient({
    account,
    chain: chainOf(chainId),
    transport: custom(provider, { retryCount: 0 }),
    pollingInterval: 1_000,
  });
  const bound = Object.entries(actions).map(([name, action]) => {
    const run = action as (client: unknown, ...args: readonly unknown[]) => unknown;
    return [name, (...args: readonly unknown[]) => run(client, ...args)];
  });
  const both: unknown = Object.assign(client, Object.fromEntries(bound));
  return { walletClient: both as WalletClient, publicClient: both as PublicClient };
}

export { chainNameOf, switchChain } from "./chains.ts";
export { connectedAccount, findWallets, walletChain } from "./wallets.ts";
export { explain, postedIds };
