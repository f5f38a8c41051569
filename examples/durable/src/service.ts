import './with-resolvers.js';
import { createEndpointHandler } from '@restatedev/restate-sdk';
import { createServer } from 'node:http2';
import { conversation } from './conversation.js';

// The SDK's own `serve` listens on every interface; this one on loopback only.
createServer(createEndpointHandler({ services: [conversation] })).listen(Number(process.env['PORT']), '127.0.0.1');

// The trial holds the other end of stdin: if it goes, so does the service.
process.stdin.resume().once('end', () => process.exit());
