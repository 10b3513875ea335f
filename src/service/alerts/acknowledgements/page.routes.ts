import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { AuditLog } from '../../audit-log/audit-log.ts';
import { ServiceError } from '../../errors.ts';
import { refuseForeignPage } from '../../http/access/same-origin.ts';
import type { ServiceAddress } from '../../http/access/service-address.ts';
import { addForms, PAGE, PAGE_WITH_FORM } from '../../users/pages/forms.ts';
import { sendPage } from '../../users/pages/page.ts';
import type { CheckAlerts } from '../check-alerts.ts';
import { presentAlert } from '../routes.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import { CLOSED_PAGE, openAlertPage, problemPage, UNKNOWN_PAGE } from './alert-page.ts';
import { isTakenByChannel, type LinkedAlert, type LinkedAlerts } from './linked-alerts.ts';

const PATH = '/acknowledge/:token';

interface OfToken {
  readonly Params: { readonly token: string };
}

export interface AcknowledgementPagesParts {
  readonly acknowledgements: Acknowledgements;
  readonly linkedAlerts: LinkedAlerts;
  readonly checkAlerts: Pick<CheckAlerts, 'read'>;
  readonly auditLog: Pick<AuditLog, 'recording'>;
  readonly serviceAddress: ServiceAddress;
}

/**
 * The page of the links in messages (src/service/README.md, "Acknowledgement and escalation"). Opening a link
 * changes nothing, because mail scanners and previews of chats do that: only the form on its page does.
 */
export function acknowledgementPagesRoutes(parts: AcknowledgementPagesParts): FastifyPluginAsync {
  const { acknowledgements, linkedAlerts, checkAlerts, auditLog, serviceAddress } = parts;

  const pathOf = ({ params }: FastifyRequest<OfToken>): string =>
    serviceAddress.path(`/acknowledge/${encodeURIComponent(params.token)}`);

  const show = (request: FastifyRequest<OfToken>, reply: FastifyReply, linked: LinkedAlert) => {
    if (!linked.alert.isOpen) return sendPage(reply.code(410), CLOSED_PAGE);
    const path = pathOf(request);
    const paths = {
      acknowledge: path,
      undo: `${path}/undo`,
      alert: serviceAddress.path(`/alerts/${linked.alert.id}`),
    };
    return sendPage(reply, openAlertPage(linked, paths));
  };

  /** Changes the alert in the name of the channel, with an entry in the audit log of its account. */
  const change = async (
    { accountId, alert, by }: LinkedAlert,
    action: 'acknowledge' | 'unacknowledge',
    address: string,
  ): Promise<void> => {
    const { id } = alert;
    const recorded = {
      accountId,
      actor: { kind: 'channel', id: by.id, name: by.name, address },
      kind: 'check-alert',
      action,
      id,
      idName: 'id',
      show: async () => presentAlert(await checkAlerts.read({ accountId, id })),
    } as const;
    const key = { accountId, id };
    await auditLog.recording(recorded, () =>
      action === 'acknowledge'
        ? acknowledgements.acknowledge(key, by)
        : acknowledgements.unacknowledge(key, by, 'own'),
    );
  };

  const act =
    (action: 'acknowledge' | 'unacknowledge') =>
    async (request: FastifyRequest<OfToken>, reply: FastifyReply) => {
      try {
        refuseForeignPage(serviceAddress, request);
        const linked = await linkedAlerts.find(request.params.token);
        if (linked === null) return sendPage(reply.code(404), UNKNOWN_PAGE);
        // A form that is sent twice adds no second entry to the audit log.
        const isToDo =
          action === 'acknowledge'
            ? linked.alert.acknowledgement === null
            : isTakenByChannel(linked);
        if (linked.alert.isOpen && isToDo) await change(linked, action, request.ip);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status >= 500) throw error;
        // The page shows who has acknowledged the alert.
        const isTaken = error.attributes.reason === 'taken';
        if (error.status === 409 && !isTaken) return sendPage(reply.code(410), CLOSED_PAGE);
        if (!isTaken) return sendPage(reply.code(error.status), problemPage(error.message));
      }
      return reply.redirect(pathOf(request), 303);
    };

  return async (app) => {
    addForms(app);

    app.get<OfToken>(PATH, PAGE, async (request, reply) => {
      const linked = await linkedAlerts.find(request.params.token);
      if (linked === null) return sendPage(reply.code(404), UNKNOWN_PAGE);
      return show(request, reply, linked);
    });

    app.post<OfToken>(PATH, PAGE_WITH_FORM, act('acknowledge'));
    app.post<OfToken>(`${PATH}/undo`, PAGE_WITH_FORM, act('unacknowledge'));
  };
}
