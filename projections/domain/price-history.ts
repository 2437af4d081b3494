/** Days of hourly prices that every installation has: as many as `/v1/crypto/history` answers. */
export const priceHistoryDays = 365;
