/** One broken rule. The ids are those of the rule tables in `rules-*.ts`; the wording is ours, as vendors reword theirs. */
export interface Violation {
  readonly rule: string;
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
}

export type Json = Readonly<Record<string, unknown>>;

export function violation(rule: string, message: string, param: string | null = null, code: string | null = null): Violation {
  return { rule, message, param, code };
}

/** For bodies that break no listed rule but are no request of the API at all. */
export function misshapen(path: string, wanted: string): Violation {
  return violation('shape', `${path} must be ${wanted}`, path, 'invalid_type');
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function areObjects(value: unknown): value is readonly Json[] {
  return Array.isArray(value) && value.every(isObject);
}
