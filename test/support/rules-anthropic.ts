import { areObjects, isObject, misshapen, violation, type Json, type Violation } from './violation.js';

/**
 * The rules of Anthropic Messages for tool calls and their results. M01, an unreadable body, is checked before parsing.
 * M02–M06, M10, M11 and M13 look at one block; the others look at turns, that is after messages of one role in a row
 * have been merged.
 *
 * | rule | refused |
 * | --- | --- |
 * | M02 | `tool_result` in an assistant message |
 * | M03 | `tool_use` in a user message |
 * | M04 | `tool_result` without `tool_use_id` |
 * | M05 | id with a character outside `[a-zA-Z0-9_-]`, or empty |
 * | M06 | `tool_use` id that occurs twice in the request |
 * | M07 | call that is not answered by the results that lead the next turn, or text after a call in the assistant turn |
 * | M08 | result for an id that the turn before did not call |
 * | M09 | two results for one id |
 * | M10 | `is_error` without content |
 * | M11 | empty text block, also inside a result |
 * | M12 | anything besides results while a server tool of the turn before has none |
 * | M13 | result content that is neither a string nor an array |
 */
export function checkAnthropic(body: unknown): Violation | null {
  const messages = isObject(body) ? body['messages'] : undefined;
  if (!areObjects(messages) || messages.length === 0) return misshapen('messages', 'a non-empty array of objects');

  const turns: Turn[] = [];
  const ids = new Set<unknown>();
  for (const [i, message] of messages.entries()) {
    const { role, content } = message;
    if (role !== 'user' && role !== 'assistant') return misshapen(`messages.${i}.role`, "'user' or 'assistant'");
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (!areObjects(blocks) || blocks.length === 0) return misshapen(`messages.${i}.content`, 'a non-empty string or array of blocks');
    for (const [j, block] of blocks.entries()) {
      const broken = checkBlock(block, role, i, j, ids);
      if (broken) return broken;
    }
    const placed = blocks.map((block, j) => ({ block, i, j }));
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...placed);
    else turns.push({ role, blocks: placed });
  }

  for (const [t, turn] of turns.entries()) {
    // A turn that calls is checked together with the turn that answers it: first what the results say, then what is missing.
    const after = turns[t + 1];
    const broken =
      turn.role === 'assistant'
        ? (checkResults(after, turn) ?? checkCalls(turn, after))
        : t === 0
          ? checkResults(turn, undefined)
          : null;
    if (broken) return broken;
  }
  return null;
}

type Role = 'user' | 'assistant';

/** A block and where it stands in the request, which merging would forget. */
interface Placed {
  readonly block: Json;
  readonly i: number;
  readonly j: number;
}

interface Turn {
  readonly role: Role;
  readonly blocks: Placed[];
}

const idPattern = /^[a-zA-Z0-9_-]+$/;
const isEmptyText = (block: Json): boolean => block['type'] === 'text' && block['text'] === '';

function checkBlock(block: Json, role: Role, i: number, j: number, ids: Set<unknown>): Violation | null {
  const at = `messages.${i}.content.${j}`;
  if (isEmptyText(block)) return violation('M11', `${at}: a text block is empty`);
  if (block['type'] === 'tool_use') {
    if (role === 'user') return violation('M03', `messages.${i}: a user message holds a tool_use block`);
    const id = block['id'];
    if (!isId(id)) return violation('M05', `${at}.tool_use.id does not match ${idPattern.source}`);
    if (ids.has(id)) return violation('M06', `${at}: tool_use id '${id}' occurs twice`);
    ids.add(id);
  }
  if (block['type'] === 'tool_result') {
    if (role === 'assistant') return violation('M02', `messages.${i}: an assistant message holds a tool_result block`);
    const { tool_use_id: id, content, is_error: isError } = block;
    if (id === undefined) return violation('M04', `${at}.tool_result.tool_use_id is missing`);
    if (!isId(id)) return violation('M05', `${at}.tool_result.tool_use_id does not match ${idPattern.source}`);
    const isEmpty = content === undefined || content === '' || (Array.isArray(content) && content.length === 0);
    if (isError === true && isEmpty) return violation('M10', `${at}.tool_result: is_error is set and there is no content`);
    if (Array.isArray(content) && content.some((part) => isObject(part) && isEmptyText(part))) {
      return violation('M11', `${at}.tool_result: a text block is empty`);
    }
    if (content !== undefined && typeof content !== 'string' && !Array.isArray(content)) {
      return violation('M13', `${at}.tool_result.content must be a string or an array`);
    }
  }
  return null;
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && idPattern.test(id);
}

function checkResults(turn: Turn | undefined, before: Turn | undefined): Violation | null {
  const called = new Set(before?.blocks.filter(({ block }) => block['type'] === 'tool_use').map(({ block }) => block['id']));
  const answered = new Set<unknown>();
  const results = (turn?.blocks ?? []).filter(({ block }) => block['type'] === 'tool_result');
  for (const { block, i, j } of results) {
    const id = block['tool_use_id'];
    if (answered.has(id)) return violation('M09', `messages.${i}.content.${j}: '${String(id)}' has a result already`);
    answered.add(id);
  }
  for (const { block, i, j } of results) {
    const id = block['tool_use_id'];
    if (!called.has(id)) return violation('M08', `messages.${i}.content.${j}: the turn before did not call '${String(id)}'`);
  }
  return null;
}

function checkCalls(turn: Turn, after: Turn | undefined): Violation | null {
  const firstCall = turn.blocks.findIndex(({ block }) => block['type'] === 'tool_use');
  if (firstCall === -1) return checkServerTools(turn, after);

  const calls = turn.blocks.slice(firstCall).filter(({ block }) => block['type'] === 'tool_use');
  const closedByText = turn.blocks.slice(firstCall).some(({ block }) => block['type'] === 'text');
  const leading = new Set<unknown>();
  for (const { block } of after?.blocks ?? []) {
    if (block['type'] !== 'tool_result') break;
    leading.add(block['tool_use_id']);
  }
  const open = calls.filter(({ block }) => closedByText || !leading.has(block['id']));
  if (open.length > 0) {
    const ids = open.map(({ block }) => block['id']).join(', ');
    return violation('M07', `messages.${calls[0]!.i}: no tool_result directly after tool_use ${ids}`);
  }
  return checkServerTools(turn, after);
}

function checkServerTools(turn: Turn, after: Turn | undefined): Violation | null {
  if (!after || after.blocks.every(({ block }) => block['type'] === 'tool_result')) return null;
  const finished = new Set(turn.blocks.filter(({ block }) => block['type'] !== 'tool_use').map(({ block }) => block['tool_use_id']));
  const pending = turn.blocks.find(({ block }) => block['type'] === 'server_tool_use' && !finished.has(block['id']));
  if (!pending) return null;
  const { name, id } = pending.block;
  return violation('M12', `server tool ${String(name)} (${String(id)}) has no result, so only tool_result blocks may follow`);
}
