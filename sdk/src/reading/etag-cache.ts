type Kept = { readonly etag: string; readonly text: string };

/** The newest answers by URL, for conditional requests. */
export type EtagCache = {
  get(url: string): Kept | undefined;
  set(url: string, kept: Kept): void;
};

/** `most` entries; the one that was not used for the longest time goes first. */
export function openEtagCache(most: number): EtagCache {
  const entries = new Map<string, Kept>();
  return {
    get(url) {
      const found = entries.get(url);
      if (found !== undefined) {
        entries.delete(url);
        entries.set(url, found);
      }
      return found;
    },
    set(url, kept) {
      entries.delete(url);
      if (most > 0) entries.set(url, kept);
      const [oldest] = entries.keys();
      if (entries.size > most && oldest !== undefined) entries.delete(oldest);
    },
  };
}
