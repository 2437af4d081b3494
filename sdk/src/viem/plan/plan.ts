import type { Address, Hex } from "viem";
import type { ChainId } from "../../chains.ts";
import { wrongArgument } from "../wallet-error.ts";
import type { OrderRef, PlannedAction, PlannedOrder, Wei } from "./actions.ts";

/** What a transaction would do. */
export type Call = { readonly to: Address; readonly data: Hex; readonly valueWei: bigint };

/** A transaction that is about to be sent or was. Its nonce is fixed before, so that it is mined once at most. */
export type Transaction = {
  readonly to: Address;
  readonly data: Hex;
  readonly valueWei: Wei;
  readonly nonce: number;
  /** Hashes of other data that may have been sent before with the same nonce. */
  readonly olderData?: readonly Hex[];
  /** The chain's head before it was sent. */
  readonly sinceBlock: string;
  readonly hash?: Hex;
  readonly minedIn?: string;
};

/** What a wallet was asked to carry out as one transaction: several calls (EIP-5792), or those of a contract account. */
export type Batch = {
  /** Ours, stored before they leave; the wallet's own once it has answered. */
  readonly id: string;
  /** How the wallet took it: with `transaction` the id is what it returned as the hash. Absent: it has not answered. */
  readonly taken?: "calls" | "transaction";
  /** Of a contract account, whose owners have to agree: the chain's head before it was asked. */
  readonly ownersSince?: string;
  readonly hash?: Hex;
  readonly minedIn?: string;
};

/** How the transaction of a step was sent: by itself or with others. */
type Sent = { transaction?: Transaction; batch?: Batch };

/** What became of one posted order. */
export type Posted = {
  readonly success: boolean;
  readonly id?: string;
  readonly orderHash?: string;
  readonly status?: string;
  /** Why it was rejected, a code of the API. */
  readonly code?: string;
  readonly message: string;
};

export type Costs = {
  /** What leaves the wallet when the step is carried out, without gas. */
  readonly wei: Wei;
  /** The zero address: native currency. */
  readonly currency: Address;
  /** In native currency, an estimate by the gas price of when the plan was made; "0": no transaction is needed. */
  readonly gasWei: Wei;
};

type Base = {
  readonly id: string;
  /** In words, for people. */
  readonly description: string;
  readonly costs: Costs;
  /** Whether a transaction is paid for. */
  readonly paysGas: boolean;
  /** `in_progress`: under way or interrupted. `skipped`: there was nothing to do. */
  state: "waiting" | "in_progress" | "done" | "skipped" | "failed";
  /** Of a failed step. */
  error?: { readonly code: string; readonly message: string };
};

export type ApproveStep = Base &
  Sent & {
    readonly kind: "approve";
    readonly token: Address;
    readonly operator: Address;
    /** Null: all tokens of the contract; else the amount of an ERC-20. */
    readonly amountWei: Wei | null;
    /** When the plan was made; looked at again when it runs. */
    readonly isApproved: boolean;
  };
/** An approval is taken back: of all tokens of the contract, or of any amount of an ERC-20. */
export type RevokeStep = Base &
  Sent & {
    readonly kind: "revoke";
    readonly takes: "tokens" | "money";
    readonly token: Address;
    readonly operator: Address;
  };
/** `costs` of the native coin become as much of the wrapped one. */
export type WrapStep = Base & Sent & { readonly kind: "wrap"; readonly token: Address };
/** Steps whose transaction is known when the plan is made. */
export type FixedStep = ApproveStep | RevokeStep | WrapStep;
export type SignStep = Base & {
  readonly kind: "sign";
  readonly orders: readonly PlannedOrder[];
  /** `tree`: one signature for all. `auto` becomes one of the others when it runs. */
  bulk: "auto" | "tree" | "single";
  signatures: Hex[];
  /** Of the next order: what the wallet of a contract account answered, until its contract accepts it. */
  pending?: Hex;
};
/** `of`: the step whose orders are posted; likewise below. */
export type PostStep = Base & { readonly kind: "post"; readonly of: string; results: Posted[] };
/** `code`: of the API, or `not_filled`: others were faster. */
export type MissedListing = {
  readonly askId: string;
  readonly code: string;
  readonly message: string;
};
export type SendStep = Base &
  Sent & {
    readonly kind: "send";
    readonly action: PlannedAction;
    /** Of a sweep that is mined: the listings that it bought. */
    bought?: readonly string[];
    /** Of a sweep: its listings that could not be bought any more, and why. */
    missed?: readonly MissedListing[];
  };
export type ConfirmStep = Base & { readonly kind: "confirm"; readonly of: string };
export type SyncStep = Base & {
  readonly kind: "sync";
  readonly of: string;
  readonly orders: readonly OrderRef[];
  /** Of the orders as the API then has them, as far as they are synced. */
  statuses: string[];
};
export type Step = FixedStep | SignStep | PostStep | SendStep | ConfirmStep | SyncStep;
/** Steps that are a transaction. */
export type SendingStep = FixedStep | SendStep;

export type Verb =
  | "list"
  | "offer"
  | "buy"
  | "sweep"
  | "accept"
  | "cancel"
  | "relist"
  | "approve"
  | "revoke"
  | "wrap";

/** Something that was requested and is no part of the plan, and why. */
export type RefusedItem = {
  /** In the request. */
  readonly index: number;
  /** A code of the API. */
  readonly code: string;
  readonly message: string;
};

/** What is to be done, as plain JSON: show it, store it, run it, go on with it. */
export type Plan = {
  readonly version: 1;
  readonly verb: Verb;
  readonly chainId: ChainId;
  /** Who signs and sends. */
  readonly account: Address;
  /** Whose orders they are: the account, or a contract that it signs for. */
  readonly maker: Address;
  readonly refused: readonly RefusedItem[];
  readonly steps: Step[];
};

/** The step that another one is of. */
export function stepOf(plan: Plan, id: string): Step {
  const found = plan.steps.find((step) => step.id === id);
  if (found === undefined) throw wrongArgument(`The plan has no step ${id}`);
  return found;
}

export const isEnded = ({ state }: Step) => state === "done" || state === "skipped";

/** Ids of the orders that the plan posted. */
export function postedIds(plan: Plan): string[] {
  return plan.steps.flatMap((step) =>
    step.kind === "post" ? step.results.flatMap(({ id }) => id ?? []) : [],
  );
}
