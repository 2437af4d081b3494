import type { Account, Address, PublicClient, WalletClient } from "viem";
import type { Market } from "../market.ts";
import { type Clients, checkChain, type SignTypedData } from "./clients.ts";
import { type AcceptItem, type AcceptOptions, planAccept } from "./plan/accept.ts";
import { type ApproveItems, planApprove } from "./plan/approve.ts";
import { type BuyItem, type BuyOptions, planBuy } from "./plan/buy.ts";
import { type CallerOptions, type CancelItems, planCancel } from "./plan/cancel.ts";
import { type ListItem, type OrderOptions, planList } from "./plan/list.ts";
import { type OfferItem, type OfferOptions, planOffer } from "./plan/offer.ts";
import type { Call, Plan } from "./plan/plan.ts";
import { planRelist, type RelistItem, type RelistOptions } from "./plan/relist.ts";
import { planRevoke, type RevokeItems } from "./plan/revoke.ts";
import { planSweep, type SweepInput, type SweepOptions } from "./plan/sweep.ts";
import { planWrap, type WrapItems } from "./plan/wrap.ts";
import { callsOf } from "./run/calls.ts";
import type { RunOptions } from "./run/context.ts";
import { runPlan } from "./run/run.ts";
import { wrongArgument } from "./wallet-error.ts";

export type TraderOptions = {
  /** Signs and sends. */
  readonly walletClient: WalletClient;
  /** Reads the chain: the client relies on this node, not on the API, for approvals, counters and simulations. */
  readonly publicClient: PublicClient;
  /** Default: the wallet's. */
  readonly account?: Account;
  /** Of the orders; default: the account. A contract (EIP-1271) for which the account signs. */
  readonly maker?: Address;
  /** Signs orders in place of the wallet: for contracts that want the signature in a form of their own. */
  readonly signTypedData?: SignTypedData;
};

/** Plans without running them: nothing is signed or sent. */
export type Planner = {
  list(items: readonly ListItem[], options?: OrderOptions): Promise<Plan>;
  offer(items: readonly OfferItem[], options?: OfferOptions): Promise<Plan>;
  buy(items: readonly BuyItem[], options?: BuyOptions): Promise<Plan>;
  sweep(input: SweepInput, options?: SweepOptions): Promise<Plan>;
  accept(item: AcceptItem, options?: AcceptOptions): Promise<Plan>;
  cancel(items: CancelItems, options?: CallerOptions): Promise<Plan>;
  relist(items: readonly RelistItem[], options?: RelistOptions): Promise<Plan>;
  approve(items: ApproveItems, options?: CallerOptions): Promise<Plan>;
  revoke(items: RevokeItems, options?: CallerOptions): Promise<Plan>;
  wrap(items: WrapItems, options?: CallerOptions): Promise<Plan>;
};

/** Each verb makes its plan and runs it; returns it as it is then. */
export type Trader = {
  [Verb in keyof Planner]: (
    items: Parameters<Planner[Verb]>[0],
    options?: NonNullable<Parameters<Planner[Verb]>[1]> & RunOptions,
  ) => Promise<Plan>;
} & {
  readonly plan: Planner;
  /** Carries out what is not done yet of a plan, also of one that was stored. */
  run(plan: Plan, options?: RunOptions): Promise<Plan>;
  /** The transactions that are left of a plan: for a contract account, which executes them by itself. */
  calls(plan: Plan, options?: RunOptions): Promise<Call[]>;
};

/** The wallet's side of the API. Keeps nothing open, and nothing in memory between calls. */
export function trader(api: Market, options: TraderOptions): Trader {
  const clients = clientsOf(api, options);
  const planned =
    <Items, Options>(make: (clients: Clients, items: Items, options: Options) => Promise<Plan>) =>
    async (items: Items, options = {} as Options) => {
      await checkChain(clients);
      return make(clients, items, options);
    };
  const plan: Planner = {
    list: planned(planList),
    offer: planned(planOffer),
    buy: planned(planBuy),
    sweep: planned(planSweep),
    accept: planned(planAccept),
    cancel: planned(planCancel),
    relist: planned(planRelist),
    approve: planned(planApprove),
    revoke: planned(planRevoke),
    wrap: planned(planWrap),
  };
  const run = (given: Plan, options: RunOptions = {}) => runPlan(clients, given, options);
  const planAndRun =
    <Items, Options>(make: (items: Items, options?: Options) => Promise<Plan>) =>
    async (items: Items, options?: Options & RunOptions) =>
      run(await make(items, options), options);
  return {
    plan,
    run,
    calls: (given, options = {}) => callsOf(clients, given, options),
    list: planAndRun(plan.list),
    offer: planAndRun(plan.offer),
    buy: planAndRun(plan.buy),
    sweep: planAndRun(plan.sweep),
    accept: planAndRun(plan.accept),
    cancel: planAndRun(plan.cancel),
    relist: planAndRun(plan.relist),
    approve: planAndRun(plan.approve),
    revoke: planAndRun(plan.revoke),
    wrap: planAndRun(plan.wrap),
  };
}

function clientsOf(
  api: Market,
  { walletClient, publicClient, ...options }: TraderOptions,
): Clients {
  const account = options.account ?? walletClient.account;
  if (account === undefined) throw wrongArgument("The wallet has no account: give one");
  const signTypedData: SignTypedData =
    options.signTypedData ?? ((data) => walletClient.signTypedData({ account, ...data } as never));
  const { maker = account.address } = options;
  return { api, walletClient, publicClient, account, maker, signTypedData };
}
