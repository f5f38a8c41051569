import { isDeepStrictEqual } from 'node:util';
import { areObjects, isObject, misshapen, violation, type Json, type Violation } from './violation.js';

/**
 * The rules of Responses for tool calls and their outputs. R01, an unreadable body, is checked before parsing.
 *
 * | rule | refused |
 * | --- | --- |
 * | R02 | item with the role `tool`, which is Chat's shape |
 * | R03 | `call_id` is `''` |
 * | R04 | `call_id` longer than 64 |
 * | R05 | output with neither `call_id` nor `name` |
 * | R06 | output without `output` |
 * | R07 | `output` is neither a string nor an array |
 * | R08 | `output` longer than 10 MiB |
 * | R09 | output whose call, of its own kind, stands nowhere before it |
 * | R10 | client call without an output, here or in the held history |
 * | R11 | second output for one `call_id` |
 * | R12 | function call whose item `id` is no item id (`fc…`) |
 * | R13 | item `id` that occurs twice |
 * | R14 | output that does not copy the `caller` of a programmatic call |
 * | R15 | with `adjacent`: an item between a group of calls and its outputs |
 *
 * R11 is certain for one compatible provider only and OpenAI's own answer is not known; the stand-in takes the strict side.
 */
export function checkResponses(body: unknown, { held = [], adjacent = false }: ResponsesProfile = {}): Violation | null {
  const items = inputItems(body);
  if (items === null) return misshapen('input', 'a string or an array of objects');

  const ledger = new Ledger();
  for (const item of held) ledger.note(item);
  for (const [i, item] of items.entries()) {
    const broken = checkItem(item, i, ledger) ?? (adjacent ? checkAdjacent(item, i, ledger) : null);
    if (broken) return broken;
    ledger.note(item);
  }
  const open = ledger.waiting();
  return open ? violation('R10', `${open.kind} ${open.id} has no output`, 'input') : null;
}

export interface ResponsesProfile {
  /** The items that the service keeps under `previous_response_id`, oldest first. */
  readonly held?: readonly Json[];
  readonly adjacent?: boolean;
}

/** The items a body adds to a conversation; `null` if its input is no input. */
export function inputItems(body: unknown): readonly Json[] | null {
  const input = isObject(body) ? body['input'] : undefined;
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return areObjects(input) ? input : null;
}

/** Client calls, by item type. Hosted calls are answered by the service and are not listed. */
const kinds: Readonly<Record<string, string>> = {
  function_call: 'function call',
  custom_tool_call: 'custom tool call',
  apply_patch_call: 'apply patch call',
};
const callKind = (item: Json): string | undefined => kinds[String(item['type'])];
const outputKind = (item: Json): string | undefined => kinds[String(item['type']).replace(/_output$/, '')];
const isOutput = (item: Json): boolean => String(item['type']).endsWith('_call_output');
const outputMax = 10_485_760;

interface Call {
  readonly id: string;
  readonly kind: string;
  readonly caller: unknown;
  readonly async: boolean;
  waiting: boolean;
  answered: boolean;
}

/** What the conversation has said so far. */
class Ledger {
  readonly calls = new Map<unknown, Call>();
  readonly itemIds = new Set<unknown>();
  /** Whether an output has been read since the newest group of calls. */
  answering = false;

  note(item: Json): void {
    if (item['id'] !== undefined && item['type'] !== 'item_reference') this.itemIds.add(item['id']);
    const kind = callKind(item);
    if (kind !== undefined) {
      const id = String(item['call_id']);
      // An id that comes again keeps its answer, so that neither a second output nor none can satisfy it.
      const answered = this.calls.get(id)?.answered ?? false;
      this.calls.set(id, { id, kind, caller: item['caller'], async: item['async'] === true, waiting: true, answered });
      this.answering = false;
    } else if (isOutput(item)) {
      const call = this.calls.get(item['call_id']);
      if (call) Object.assign(call, { waiting: false, answered: true });
      this.answering = true;
    }
  }

  waiting(): Call | undefined {
    return [...this.calls.values()].find((call) => call.waiting && !call.async);
  }
}

function checkItem(item: Json, i: number, { calls, itemIds }: Ledger): Violation | null {
  const { id, call_id: callId, output } = item;
  const at = `input[${i}]`;
  if (item['role'] === 'tool') return violation('R02', `${at} has the role 'tool', which is no role here`, at, 'invalid_value');
  if (callKind(item) !== undefined && typeof callId !== 'string') return misshapen(`${at}.call_id`, 'a string');
  if (callId === '') return violation('R03', `${at}.call_id is empty`, `${at}.call_id`, 'empty_string');
  if (typeof callId === 'string' && callId.length > 64) return tooLong('R04', `${at}.call_id`, callId.length, 64);
  if (item['type'] === 'function_call' && id !== undefined && !/^fc.*[^_]$/.test(String(id))) {
    return violation('R12', `${at}.id is '${String(id)}', which is not the id of a function call item`, `${at}.id`, 'invalid_value');
  }
  if (id !== undefined && item['type'] !== 'item_reference' && itemIds.has(id)) {
    return violation('R13', `item ${String(id)} occurs a second time`, 'input');
  }
  const kind = outputKind(item);
  if (!isOutput(item) || kind === undefined) return null;

  if (kind !== kinds['apply_patch_call']) {
    if (output === undefined) return violation('R06', `${at}.output is missing`, `${at}.output`, 'missing_required_parameter');
    if (typeof output !== 'string' && !Array.isArray(output)) {
      return violation('R07', `${at}.output must be a string or an array`, `${at}.output`, 'invalid_type');
    }
    if (output.length > outputMax) return tooLong('R08', `${at}.output`, output.length, outputMax);
  }
  if (typeof callId !== 'string') {
    // A named output without a call is one that the client injects.
    return typeof item['name'] === 'string' ? null : violation('R05', `${at} has neither a call_id nor a name`, 'input');
  }
  const call = calls.get(callId);
  if (call?.kind !== kind) return violation('R09', `no ${kind} ${callId} for this output`, 'input');
  if (call.answered) return violation('R11', `${kind} ${callId} has an output already`, 'input');
  if (isObject(call.caller) && call.caller['type'] === 'program' && !isDeepStrictEqual(item['caller'], call.caller)) {
    return violation('R14', `the output of ${callId} must copy its call's caller`, `${at}.caller`, 'invalid_value');
  }
  return null;
}

/** Calls may follow calls and outputs follow outputs; anything else has to wait until the group is answered. */
function checkAdjacent(item: Json, i: number, ledger: Ledger): Violation | null {
  const open = ledger.waiting();
  if (!open || isOutput(item) || (callKind(item) !== undefined && !ledger.answering)) return null;
  return violation('R15', `input[${i}] stands between ${open.kind} ${open.id} and its output`, null, 'invalid_request_error');
}

function tooLong(rule: string, path: string, length: number, max: number): Violation {
  return violation(rule, `${path} has ${length} characters; ${max} are allowed`, path, 'string_above_max_length');
}
