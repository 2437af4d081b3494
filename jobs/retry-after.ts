/** `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), as milliseconds; null without one. */
export function retryAfterMs(header: string | string[] | undefined): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined || text.trim() === "") return null;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
