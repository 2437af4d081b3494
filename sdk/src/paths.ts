import type { ChainId } from "./chains.ts";
import type { paths } from "./document.ts";

type Json<Answer> = Answer extends { content: { "application/json": infer Body } } ? Body : never;

/** The body of a success, as the document says. */
type SuccessOf<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses]: Json<Responses[Status]> }[keyof Responses]
  : never;

type OperationOf<Path extends keyof paths, Method extends "get" | "post"> =
  paths[Path] extends Record<Method, infer Operation> ? Operation : never;

/** Paths whose answers are `{ data, … }`: all but media and the document itself. */
type PathsWith<Method extends "get" | "post"> = {
  [Path in keyof paths]: SuccessOf<OperationOf<Path, Method>> extends never
    ? never
    : SuccessOf<OperationOf<Path, Method>> extends { data: unknown }
      ? Path
      : never;
}[keyof paths];

export type GetPath = PathsWith<"get">;
export type PostPath = PathsWith<"post">;

type InPath<Operation> = Operation extends { parameters: { path: infer Names } } ? Names : unknown;
type InQuery<Operation> = Operation extends { parameters: { query?: infer Names } }
  ? NonNullable<Names>
  : unknown;
type InBody<Operation> = Operation extends {
  requestBody?: { content: { "application/json": infer Body } };
}
  ? Body
  : unknown;

type WithoutChain<Fields> = Omit<Fields, "chainId"> & { chainId?: ChainId };

/** Parameters of the path and of the query together; `chainId` is the client's unless given. */
export type GetParams<Path extends GetPath> = WithoutChain<
  InPath<OperationOf<Path, "get">> & InQuery<OperationOf<Path, "get">>
>;

/** Parameters of the path and fields of the body together. */
export type PostParams<Path extends PostPath> = WithoutChain<
  InPath<OperationOf<Path, "post">> & InBody<OperationOf<Path, "post">>
>;

export type GetAnswer<Path extends GetPath> = SuccessOf<OperationOf<Path, "get">>;
export type PostAnswer<Path extends PostPath> = SuccessOf<OperationOf<Path, "post">>;

/** Lists that are read by cursor. */
export type PagedPath = {
  [Path in GetPath]: GetAnswer<Path> extends {
    data: readonly unknown[];
    meta: { next_cursor: string | null };
  }
    ? Path
    : never;
}[GetPath];

export type RowOf<Path extends PagedPath> =
  GetAnswer<Path> extends { data: readonly (infer Row)[] } ? Row : never;

/** Lists whose rows can be asked for with some of their fields. */
export type FieldsPath = {
  [Path in PagedPath]: "fields" extends keyof GetParams<Path> ? Path : never;
}[PagedPath];

/** Names of fields of a list's rows. */
export type FieldsOf<Path extends FieldsPath> = readonly (keyof RowOf<Path> & string)[];

export type FieldsParams<Path extends FieldsPath, Fields extends FieldsOf<Path>> = Omit<
  GetParams<Path>,
  "fields"
> & { fields: Fields };

/** A row with these fields; with any of its fields where the names are not known when it is compiled. */
export type RowWith<
  Path extends FieldsPath,
  Fields extends FieldsOf<Path>,
> = number extends Fields["length"] ? Partial<RowOf<Path>> : Pick<RowOf<Path>, Fields[number]>;

export type AnswerWith<Path extends FieldsPath, Fields extends FieldsOf<Path>> = Omit<
  GetAnswer<Path>,
  "data"
> & { data: RowWith<Path, Fields>[] };

/** Optional where no parameter is required. */
export type Args<Params> =
  Record<never, never> extends Params ? [params?: Params] : [params: Params];
