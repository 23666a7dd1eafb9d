import { toSignature } from '../../schema/signature.ts';
import { cutText } from '../../text/cut.ts';
import type { ToolRegistration } from '../../tool/registration.ts';

const descriptionChars = 300;

/** A call in the form that a model is told. */
export const writtenCall = (name: string, args: string): string =>
  `tool_call_name: ${name}\ntool_call_arguments: ${args}`;

/** Tells a model that cannot call tools by itself which there are, and how to write a call. */
export const textCallFormat = (tools: readonly ToolRegistration[]): string =>
  tools.length === 0
    ? ''
    : [
        '# Tools',
        'To call a tool, write these two lines and nothing behind them; the result comes as the next message:',
        writtenCall('NAME', '{"key": "value"}'),
        ...tools.map(
          ({ name, description, inputSchema }) =>
            `- ${name}(${toSignature(inputSchema)}): ${cutText(description.replaceAll(/\s+/g, ' '), descriptionChars)}`,
        ),
      ].join('\n');
