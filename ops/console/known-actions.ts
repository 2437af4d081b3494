import { type Html, html } from "#api/pages/kit/html.ts";
import { pageLink } from "#api/pages/kit/links.ts";
import { type SwitchName, setPaused, switchNames } from "#projections/log/operators.ts";
import { configuredProjections } from "../reports/inspected-config.ts";
import { Operation, type OperationProgress, operationArguments } from "./operations.ts";
import type { ConsoleContext } from "./page.ts";

type ActionOutcome = { isDone: boolean; output: string };

/** `id`: of the recorded action. */
export type RunAction = (
  id: string,
  onProgress: (progress: OperationProgress) => void,
) => Promise<ActionOutcome>;

/** Something that an operator can start here. */
export type ConsoleAction = {
  title: string;
  /** What it does, for the page that asks for a confirmation. */
  effect: string;
  /** The arguments of `op` that do the same. */
  command: readonly string[];
  /** Null where this process cannot have it done. */
  run: RunAction | null;
  /** Whether it takes long: the answer does not wait for its end. */
  isLong: boolean;
};

type Context = Pick<ConsoleContext, "db" | "config" | "runOperation">;

/** The action of a name for a target; null where there is none such. */
export function findAction(context: Context, name: string, target: string): ConsoleAction | null {
  if (name === "pause" || name === "resume") return switchAction(context, name, target);
  if (name === "rebuild" || name === "verify") return projectionAction(context, name, target);
  if (name === "release") return releaseAction(context, target);
  if (target !== "") return null;
  if (name === "doctor") {
    return operationAction(context, { command: name }, "Examine everything", effects.doctor);
  }
  if (name !== "prune") return null;
  return operationAction(context, { command: "prune" }, "Drop unused schemas", effects.prune);
}

const effects = {
  pause: "Stops this part of the service within a second. What is stored stays available.",
  resume: "Lets this part of the service go on within a second.",
  rebuild:
    "Derives the tables again beside the serving ones, then swaps them; projections that read them follow. Nothing stops meanwhile, and op rollback restores the present tables.",
  verify: "Derives the rows again and compares every one with what is served. Nothing is changed.",
  release:
    "Rebuilds the projections that exclude the fact, with the fact included. Where it fails again it stays quarantined.",
  doctor:
    "Checks database, nodes, tables and disk as the overview does, and compares the projections' tables with their definitions. Nothing is changed; a fault makes it end as failed.",
  prune:
    "Drops the schemas that no process uses, among them the tables that op rollback would restore. This cannot be undone.",
};

function switchAction(
  { db }: Context,
  verb: "pause" | "resume",
  target: string,
): ConsoleAction | null {
  const name = switchNames.find((one) => one === target);
  if (name === undefined) return null;
  const run = async (): Promise<ActionOutcome> => {
    const hasChanged = await setPaused(db, name satisfies SwitchName, verb === "pause");
    const state = verb === "pause" ? "paused" : "running";
    return { isDone: true, output: hasChanged ? `${name} is ${state}` : `${name} was ${state}` };
  };
  const title = `${verb === "pause" ? "Pause" : "Resume"} ${name}`;
  return { title, effect: effects[verb], command: [verb, name], run, isLong: false };
}

function projectionAction(
  context: Context,
  command: "rebuild" | "verify",
  target: string,
): ConsoleAction | null {
  const isKnown = configuredProjections(context.config).some(({ name }) => name === target);
  if (!isKnown && target !== "") return null;
  const verb = command === "rebuild" ? "Rebuild" : "Verify";
  const title = `${verb} ${target === "" ? "all projections" : target}`;
  const projection = target === "" ? null : target;
  return operationAction(context, { command, projection }, title, effects[command]);
}

/** The target is a position, or a position and a projection. */
function releaseAction(context: Context, target: string): ConsoleAction | null {
  const [position = "", projection = null] = target.split(" ");
  const operation = Operation.safeParse({ command: "release", position, projection });
  if (!operation.success) return null;
  const title = `Release fact ${position}${projection === null ? "" : ` in ${projection}`}`;
  return operationAction(context, operation.data, title, effects.release);
}

function operationAction(
  { runOperation }: Context,
  operation: Operation,
  title: string,
  effect: string,
): ConsoleAction {
  const run: RunAction = async (id, onProgress) => {
    if (runOperation === null) throw new Error("no supervisor runs commands for this process");
    const { code, output } = await runOperation(id, operation, onProgress);
    return { isDone: code === 0, output };
  };
  const command = operationArguments(operation);
  return { title, effect, command, run: runOperation === null ? null : run, isLong: true };
}

/** A way to the page that asks for a confirmation. */
export function actionLink(text: string, action: string, target = ""): Html {
  const label = `${text} ${target}`.trim();
  return html`<a class="button" href="${pageLink("/actions/new", { action, target })}" aria-label="${label}">${text}</a>`;
}
