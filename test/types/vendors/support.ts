import type { ClosedSnapshot, ToolCallClosure } from 'tool-call-closure';

export declare const closure: ToolCallClosure;
export declare const closed: ClosedSnapshot;
