/** One read at a time; callers that arrive during a read share the next one, which starts after they arrived. */
export function shareReads<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let current: Promise<Value> | undefined;
  let next: Promise<Value> | undefined;
  const begin = (): Promise<Value> => {
    next = undefined;
    current = read().finally(() => {
      current = undefined;
    });
    return current;
  };
  return () => {
    if (current === undefined) return begin();
    next ??= current.then(begin, begin);
    return next;
  };
}
