/**
 * Tokens of one ConsecutiveTransfer that get an owner, at most. ERC-2309 sets no limit, and an event costs the same gas
 * for any range; the usual contracts stay at 5,000.
 */
export const MAX_RANGE_TOKENS = 10_000;
