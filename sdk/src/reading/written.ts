/** How far the data must be that answers are made from, by chain: what was posted is in them. */
export function openWritten() {
  const positions = new Map<unknown, bigint>();
  return {
    headers(chainId: unknown): Record<string, string> {
      const position = positions.get(chainId);
      return position === undefined ? {} : { "X-Min-Position": `${position}` };
    },
    note(chainId: unknown, text: string | null): void {
      if (text === null || !/^\d{1,18}$/.test(text)) return;
      const position = BigInt(text);
      if (position > (positions.get(chainId) ?? 0n)) positions.set(chainId, position);
    },
  };
}
