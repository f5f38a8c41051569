import { areObjects, isObject, misshapen, violation, type Json, type Violation } from './violation.js';

/**
 * The rules of Chat Completions for tool calls and their results. C01, an unreadable body, is checked before parsing.
 *
 * | rule | refused |
 * | --- | --- |
 * | C02 | tool message without a non-empty `tool_call_id` |
 * | C03 | `tool_calls` is `[]` |
 * | C04 | more than 128 calls in one message |
 * | C05 | call without an id |
 * | C06 | id longer than `idMax`, or content longer than 10 MiB |
 * | C07 | call whose function has no name |
 * | C08 | tool message whose content is neither a string nor text parts |
 * | C09 | tool message outside the run that directly follows an assistant message with calls |
 * | C10 | tool message for an id which that assistant message did not announce |
 * | C11 | the run ends while an id has no result |
 * | C12 | an id announced twice in one message, or answered twice |
 */
export function checkChat(body: unknown, { idMax = 40 }: ChatProfile = {}): Violation | null {
  const messages = isObject(body) ? body['messages'] : undefined;
  if (!areObjects(messages) || messages.length === 0) return misshapen('messages', 'a non-empty array of objects');

  let run: Run = noRun;
  for (const [i, message] of messages.entries()) {
    if (!roles.has(message['role'])) return misshapen(`messages[${i}].role`, 'a known role');
    let broken: Violation | null;
    if (message['role'] === 'tool') {
      broken = checkResult(message, i, run, idMax);
      run.open.delete(message['tool_call_id']);
    } else {
      broken = checkAnswered(run, i);
      run = noRun;
      const calls = message['role'] === 'assistant' ? message['tool_calls'] : undefined;
      if (!broken && calls !== undefined) broken = checkCalls(calls, i, idMax);
      if (!broken && areObjects(calls)) {
        const ids = calls.map((call) => call['id']);
        run = { announced: new Set(ids), open: new Set(ids) };
      }
    }
    if (broken) return broken;
  }
  return checkAnswered(run, messages.length - 1);
}

/** `idMax`: 40 on the classic routes, 64 on some newer ones. */
export interface ChatProfile {
  readonly idMax?: 40 | 64;
}

/** The assistant message whose results are being read: what it announced and what is still unanswered. */
interface Run {
  readonly announced: ReadonlySet<unknown>;
  readonly open: Set<unknown>;
}

const noRun: Run = { announced: new Set(), open: new Set() };
const roles = new Set<unknown>(['developer', 'system', 'user', 'assistant', 'tool', 'function']);
const contentMax = 10_485_760;

function checkCalls(calls: unknown, i: number, idMax: number): Violation | null {
  const path = `messages[${i}].tool_calls`;
  if (!areObjects(calls)) return misshapen(path, 'an array of objects');
  if (calls.length === 0) return violation('C03', `${path} is empty; leave it out instead`, path, 'empty_array');
  if (calls.length > 128) {
    return violation('C04', `${path} has ${calls.length} entries; 128 are allowed`, path, 'array_above_max_length');
  }
  const seen = new Set<string>();
  for (const [j, call] of calls.entries()) {
    const { id } = call;
    const idPath = `${path}[${j}].id`;
    if (typeof id !== 'string' || id === '') return violation('C05', `${idPath} is missing`, idPath, 'missing_required_parameter');
    if (id.length > idMax) return tooLong(idPath, id.length, idMax);
    if (seen.has(id)) return violation('C12', `messages[${i}] announces tool_call_id '${id}' twice`);
    seen.add(id);
    const kind = call['type'] === 'custom' ? 'custom' : 'function';
    const detail = call[kind];
    const name = isObject(detail) ? detail['name'] : undefined;
    const namePath = `${path}[${j}].${kind}.name`;
    if (typeof name !== 'string' || name === '') return violation('C07', `${namePath} is empty`, namePath, 'empty_string');
  }
  return null;
}

function checkResult(message: Json, i: number, run: Run, idMax: number): Violation | null {
  const { tool_call_id: id, content } = message;
  const at = `messages.[${i}]`;
  if (typeof id !== 'string' || id === '') return violation('C02', `${at} has no tool_call_id`, `${at}.tool_call_id`);
  if (id.length > idMax) return tooLong(`messages[${i}].tool_call_id`, id.length, idMax);
  const length = contentLength(content);
  if (length !== null && length > contentMax) return tooLong(`messages[${i}].content`, length, contentMax);
  if (length === null) return violation('C08', `${at}.content must be a string or text parts`, `${at}.content`);
  if (run === noRun) return violation('C09', `${at} is a tool result that follows no tool call`, `${at}.role`);
  if (!run.announced.has(id)) {
    return violation('C10', `${at} answers '${id}', which the assistant message before it did not call`, `${at}.tool_call_id`);
  }
  if (!run.open.has(id)) return violation('C12', `messages[${i}] answers tool_call_id '${id}' a second time`);
  return null;
}

/** `null` where the content is neither a string nor a non-empty array of text parts. */
function contentLength(content: unknown): number | null {
  if (typeof content === 'string') return content.length;
  if (!areObjects(content) || content.length === 0) return null;
  let length = 0;
  for (const { text } of content) {
    if (typeof text !== 'string') return null;
    length += text.length;
  }
  return length;
}

function checkAnswered({ open }: Run, i: number): Violation | null {
  if (open.size === 0) return null;
  return violation('C11', `tool calls without a result: ${[...open].join(', ')}`, `messages.[${i}].role`);
}

function tooLong(path: string, length: number, max: number): Violation {
  return violation('C06', `${path} has ${length} characters; ${max} are allowed`, path, 'string_above_max_length');
}
