export type { SignTypedData, TypedData } from "./clients.ts";
export type { OfferTrait, PlannedCriteria } from "./criteria.ts";
export type { AcceptItem, AcceptOptions } from "./plan/accept.ts";
export type {
  AcceptAction,
  BuyAction,
  CancelAction,
  CancelAllAction,
  OrderRef,
  PlannedAction,
  PlannedOrder,
  SweepAction,
  Wei,
} from "./plan/actions.ts";
export type { ApproveItems } from "./plan/approve.ts";
export type { BuyItem, BuyOptions } from "./plan/buy.ts";
export type { CallerOptions, CancelItems } from "./plan/cancel.ts";
export type { TextComponents } from "./plan/components.ts";
export type { ListItem, OrderOptions } from "./plan/list.ts";
export type { OfferItem, OfferOptions } from "./plan/offer.ts";
export {
  type ApproveStep,
  type Batch,
  type Call,
  type ConfirmStep,
  type Costs,
  type MissedListing,
  type Plan,
  type Posted,
  type PostStep,
  postedIds,
  type RefusedItem,
  type RevokeStep,
  type SendStep,
  type SignStep,
  type Step,
  type SyncStep,
  type Transaction,
  type Verb,
  type WrapStep,
} from "./plan/plan.ts";
export type { RelistItem, RelistOptions } from "./plan/relist.ts";
export type { RevokeItems } from "./plan/revoke.ts";
export type { SweepInput, SweepOptions } from "./plan/sweep.ts";
export type { WrapItems } from "./plan/wrap.ts";
export type { RunOptions } from "./run/context.ts";
export { type Planner, type Trader, type TraderOptions, trader } from "./trader.ts";
export { type WalletCode, WalletError } from "./wallet-error.ts";
