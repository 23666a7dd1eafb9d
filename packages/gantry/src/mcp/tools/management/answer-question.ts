import { GantryError } from '../../../kernel/errors.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Tool } from '../../../tool/executor.ts';
import { fromReply } from '../../../tool/messages.ts';
import type { ManageClient } from '../manage-client.ts';
import type { Surfaces } from '../typed/surfaces.ts';
import { managementTool, textArgument } from './management-tool.ts';

/** `mcp_answer`: answers a question of a server that was handed back to this session. */
export const answerQuestion = (manage: Pick<ManageClient, 'answer'>, surfaces: Pick<Surfaces, 'pin'>): Tool =>
  managementTool({
    name: 'mcp_answer',
    description:
      'Answers or declines a question that a server asked in the middle of a call of yours. Gives the result of that call, or the next question.',
    properties: {
      question_id: { type: 'string', description: 'As the result that asked gave it.' },
      answers: { type: 'object', description: 'Values by field name. Leave out fields that are optional and unknown.' },
      decline: { type: 'boolean', description: 'true to decline instead of answering.' },
    },
    required: ['question_id'],
    // The call that goes on has a budget of its own.
    timeoutMs: 0,
    available: isSessionRun,
    execute: async (args, context, call) => {
      const questionId = textArgument(args, 'question_id');
      if (questionId === '')
        throw new GantryError('invalid_arguments', 'Give "question_id", as the result that asked gave it.');
      const { server, reply } = await manage.answer(
        {
          questionId,
          answers: args['answers'],
          decline: args['decline'] === true,
          sessionId: context.namespace,
          toolCallId: call.id,
        },
        context.signal,
      );
      await surfaces.pin(context, server);
      return fromReply(reply);
    },
  });

/** Questions and tasks belong to the run of a session: a client is asked itself, and a person uses the command line or the API. */
export const isSessionRun = ({ caller, namespace }: CallContext): boolean =>
  caller === 'model' && namespace !== undefined;
