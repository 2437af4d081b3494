const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Seconds until metadata is fetched again: it may have been revealed or changed. */
export const refreshSeconds = 30 * day;

/** Seconds until the next attempt after the first, second, … failure; after more, `refreshSeconds`. */
export const retrySeconds = [minute, 30 * minute, 6 * hour, day, 7 * day] as const;
