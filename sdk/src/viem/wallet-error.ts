/** What stops a plan, beside the API's own refusals (`MarketError`). */
export type WalletCode =
  /** The wallet or the public client is on another chain: switch it, then run the plan again. */
  | "wrong_chain"
  /** The account is not the one that the plan was made for. */
  | "wrong_account"
  /** It cannot be traded as requested; `reason` is the API's code, the message says why. */
  | "blocked"
  /** It costs more than `maxPriceWei`, or brings less than `minNetWei`. */
  | "price_limit"
  /** The API answered with something else than the plan shows. Nothing was signed or sent. */
  | "unsafe_answer"
  /** The plan can no longer be carried out: its orders have expired or the maker's counter has changed. Make a new one. */
  | "stale_plan"
  /** The transaction would fail, or did; `reason` is the contract's error, the message says it in words. */
  | "reverted"
  /** The person refused in the wallet: the plan can be run again. */
  | "refused"
  /** The transaction was replaced in the wallet by another one: the plan can be run again. */
  | "replaced"
  /** The transaction was sent and is not mined within the time: run the plan again later. */
  | "not_mined"
  /** The owners of a contract account have not signed or executed it within the time: run the plan again later. */
  | "not_signed"
  /** The wallet of a contract account was asked, and what became of it is not known: look there, then make a new plan. */
  | "unanswered";

/** A plan cannot go on. What was done stays done; the message says what to do. */
export class WalletError extends Error {
  override readonly name = "WalletError";
  readonly code: WalletCode;
  /** A code of the API (`blocked`) or the name of a contract's error (`reverted`). */
  readonly reason: string | null;

  constructor(
    code: WalletCode,
    message: string,
    { reason = null, cause }: { reason?: string | null; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.reason = reason;
  }
}

/** A refusal of what the caller gave, before anybody is asked. */
export const wrongArgument = (message: string): WalletError =>
  new WalletError("blocked", message, { reason: "invalid_parameters" });

const unsafe = "The API's answer does not match the plan; nothing was signed or sent";

/** Throws `unsafe_answer` unless it holds. */
export function assertSafe(holds: boolean, what: string): asserts holds {
  if (!holds) throw new WalletError("unsafe_answer", `${unsafe}: ${what}`);
}

/** Runs a check; an answer that cannot even be read is unsafe too. */
export function checked<Result>(check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    if (error instanceof WalletError) throw error;
    const message = `${unsafe}: it does not have the documented form`;
    throw new WalletError("unsafe_answer", message, { cause: error });
  }
}
