/** Classes of requests, in the order in which they are served; under load the last one is shed first. */
export const loadClasses = ["book", "orders", "data", "lists"] as const;

/**
 * `book`: reads of listings and bids. `orders`: submitting, buying, accepting. `data`: single rows and figures.
 * `lists`: long reads.
 */
export type LoadClass = (typeof loadClasses)[number];

/** A class starts a request only while fewer than this share of all places are taken. */
export const shareOf: Record<LoadClass, number> = { book: 1, orders: 0.75, data: 0.5, lists: 0.25 };

/**
 * A class starts a request, too, while it has fewer than this share of all places in progress: else one caller, whose slow
 * requests of another class take a quarter of the places, would stop everybody's lists.
 */
export const ownShare = 1 / 16;

/** Of a class's places one caller has at most this share: its slow requests leave the class to the others. */
export const callerShare = 1 / 4;

/** `Retry-After` of a shed request, in seconds: what is shed first comes back last. */
export const retryAfterSeconds: Record<LoadClass, number> = {
  book: 1,
  orders: 2,
  data: 5,
  lists: 10,
};
