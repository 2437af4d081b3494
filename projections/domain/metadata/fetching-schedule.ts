const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Seconds until metadata that was fetched is fetched again: it may have been revealed, or have changed. */
export const refreshSeconds = 30 * day;

/** Seconds after the first, second, … attempt that failed until the next. Beyond them it is `refreshSeconds`. */
export const retrySeconds = [minute, 30 * minute, 6 * hour, day, 7 * day] as const;
