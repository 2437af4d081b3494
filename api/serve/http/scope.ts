/** What a key may be used for: reading, orders (submitting, buying, accepting, cancelling), events as they happen. */
export const scopes = ["read", "orders", "stream"] as const;

export type Scope = (typeof scopes)[number];
