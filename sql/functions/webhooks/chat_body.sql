-- Formats a text and a link for a chat: the body of a request to an incoming webhook of Slack, or of Microsoft Teams. Nothing in the
-- text becomes markup. For Slack, & < > are escaped as it documents, so that <!channel> is no mention. For Teams it is a TextRun, which
-- does not interpret Markdown, rather than a TextBlock, whose escapes some clients show. `url` may be null: then there is no link.
-- Raises nothing, locks nothing.
create or replace function svc.chat_body(format text, said text, url text)
returns json
language sql
-- Rendering JSON is only stable.
stable
parallel safe
set search_path = ''
return case chat_body.format
  when 'slack' then json_build_object(
    'text', concat(
      replace(replace(replace(chat_body.said, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'),
      E'\n<' || chat_body.url || '|Open in the console>'
    )
  )
  when 'teams' then json_build_object(
    'type', 'message',
    'attachments', json_build_array(
      json_build_object(
        'contentType', 'application/vnd.microsoft.card.adaptive',
        'contentUrl', null,
        'content', json_build_object(
          '$schema', 'http://adaptivecards.io/schemas/adaptive-card.json',
          'type', 'AdaptiveCard',
          'version', '1.4',
          'body', json_build_array(
            json_build_object(
              'type', 'RichTextBlock', 'inlines', json_build_array(json_build_object('type', 'TextRun', 'text', chat_body.said))
            )
          ),
          'actions', case
            when chat_body.url is null then json_build_array()
            else json_build_array(
              json_build_object('type', 'Action.OpenUrl', 'title', 'Open in the console', 'url', chat_body.url)
            )
          end
        )
      )
    )
  )
end;

comment on function svc.chat_body(text, text, text) is 'The body of a Slack or Microsoft Teams message with a text and a link.';
