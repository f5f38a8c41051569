// From version 5. The item's `id` is optional there, so the compiler sees that it is not the call's id; in 4.87 it can't.
import type { ResponseFunctionToolCall } from 'openai/resources/responses/responses';
import { createToolCallClosure } from 'tool-call-closure';

declare const calls: ResponseFunctionToolCall[];

const closure = createToolCallClosure();
closure.begin(calls.map(({ call_id: id, name }) => ({ id, name })));
// @ts-expect-error `id` names the item, `call_id` the call
closure.begin(calls);
