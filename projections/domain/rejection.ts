/** A single problem and the field that it concerns. */
export type RejectionDetail = {
  readonly field: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly message: string;
};

/** An expected refusal of a request, for a reason that the caller can fix. Faults are thrown instead. */
export type Rejection<Code extends string = string> = {
  readonly rejected: Code;
  readonly message: string;
  readonly details?: readonly RejectionDetail[];
  /** Seconds after which a repetition may succeed, where that is known. */
  readonly retryAfterSeconds?: number;
};

export function reject<const Code extends string>(
  rejected: Code,
  message: string,
  details?: readonly RejectionDetail[],
): Rejection<Code> {
  return details === undefined ? { rejected, message } : { rejected, message, details };
}

export function isRejection<Value>(value: Value): value is Extract<Value, Rejection> {
  return typeof value === "object" && value !== null && "rejected" in value;
}
