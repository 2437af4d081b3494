const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
];

/** A time relative to now, as the server writes it. */
export function relative(iso, now = Date.now()) {
  const seconds = Math.round((Date.parse(iso) - now) / 1_000);
  const size = Math.abs(seconds);
  if (size > 3_650 * 86_400) return iso.slice(0, 10);
  const [unit, length] = units.find(([, least]) => size >= least) ?? ["s", 1];
  const count = Math.floor(size / length);
  return seconds > 0 ? `in ${count} ${unit}` : `${count} ${unit} ago`;
}

/** Keeps the page's relative times current. */
export function keepTimes() {
  setInterval(() => {
    for (const time of document.querySelectorAll("time[data-relative]")) {
      const text = relative(time.dateTime);
      if (time.textContent !== text) time.textContent = text;
    }
  }, 10_000);
}
