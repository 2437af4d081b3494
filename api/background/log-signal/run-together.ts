/**
 * Runs parts of one work. When a part fails, the others end too; the first failure is thrown once all have ended,
 * so that what they share may be closed then.
 */
export async function runTogether(
  signal: AbortSignal,
  start: (signal: AbortSignal) => readonly Promise<unknown>[],
): Promise<void> {
  const ending = new AbortController();
  const failures: unknown[] = [];
  const parts = start(AbortSignal.any([signal, ending.signal]));
  const end = (failure: unknown) => {
    failures.push(failure);
    ending.abort();
  };
  await Promise.all(parts.map((part) => part.catch(end)));
  if (failures.length > 0) throw failures[0];
}
