import process from "node:process";
import { z } from "zod";

const projection = z.string().regex(/^[a-z][a-z_]{0,40}$/);

/** What the supervisor runs for the console: operator commands that need more rights than the console has. */
export const Operation = z.discriminatedUnion("command", [
  z.object({ command: z.literal("rebuild"), projection: projection.nullable() }),
  z.object({ command: z.literal("verify"), projection: projection.nullable() }),
  z.object({
    command: z.literal("release"),
    position: z.string().regex(/^[1-9]\d{0,17}$/),
    projection: projection.nullable(),
  }),
  z.object({ command: z.enum(["prune", "doctor"]) }),
]);
export type Operation = z.output<typeof Operation>;

/** From the console's process to the supervisor. */
export const OperationRequest = z.object({
  operation: z.object({ id: z.string().max(100), run: Operation }),
});

/** Its answer. `code` is null where the command could not be started or was killed. */
export const OperationEnded = z.object({
  ended: z.object({ id: z.string(), code: z.number().nullable(), output: z.string() }),
});

/** How far a part of a command is. */
const ShownTask = z.object({
  task: z.string(),
  done: z.number(),
  /** Null: not known. */
  total: z.number().nullable(),
  /** What is counted. */
  unit: z.string(),
  /** The step of a task whose count advances only at its end. */
  step: z.string().optional(),
});
export type ShownTask = z.output<typeof ShownTask>;

/** From a command that runs to the supervisor. */
export const OperationTasks = z.object({ tasks: z.array(ShownTask) });

/** From the supervisor while a command runs: how far it is, and what it wrote last. */
export const OperationProgress = z.object({
  progress: OperationTasks.extend({ id: z.string(), output: z.string() }),
});
export type OperationProgress = z.output<typeof OperationProgress>["progress"];

/** The arguments of `op`. */
export function operationArguments(operation: Operation): string[] {
  switch (operation.command) {
    case "rebuild":
    case "verify":
      return [operation.command, ...(operation.projection === null ? [] : [operation.projection])];
    case "release":
      return [
        ...["quarantine", "release", operation.position],
        ...(operation.projection === null ? [] : ["--projection", operation.projection]),
      ];
    case "prune":
      return ["prune", "--yes"];
    case "doctor":
      return ["doctor"];
  }
}

type OperationOutcome = { code: number | null; output: string };

/** Has the supervisor run an operator command, and tells how far it is. Resolves at its end. */
export type RunOperation = (
  id: string,
  operation: Operation,
  onProgress: (progress: OperationProgress) => void,
) => Promise<OperationOutcome>;

/** Null where no supervisor started this process. */
export function openOperationRunner(): RunOperation | null {
  const send = process.send?.bind(process);
  if (send === undefined) return null;
  type Waiting = {
    readonly resolve: (outcome: OperationOutcome) => void;
    readonly onProgress: (progress: OperationProgress) => void;
  };
  const waiting = new Map<string, Waiting>();
  process.on("message", (message) => {
    const told = OperationProgress.safeParse(message).data?.progress;
    if (told !== undefined) waiting.get(told.id)?.onProgress(told);
    const parsed = OperationEnded.safeParse(message);
    if (!parsed.success) return;
    const { id, code, output } = parsed.data.ended;
    waiting.get(id)?.resolve({ code, output });
    waiting.delete(id);
  });
  return (id, operation, onProgress) =>
    new Promise((resolve) => {
      waiting.set(id, { resolve, onProgress });
      send({ operation: { id, run: operation } });
    });
}
