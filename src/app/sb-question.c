/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-question.h"

#include <glib/gi18n-lib.h>

#include "sb-accessible.h"

GtkWidget *
sb_question_new (GtkWindow *parent, const char *heading, const char *body, const char *response,
                 const char *label)
{
  g_return_val_if_fail (GTK_IS_WINDOW (parent) && heading != NULL, NULL);
  g_return_val_if_fail (response != NULL && label != NULL, NULL);

  GtkWidget *self = adw_message_dialog_new (parent, heading, body);
  AdwMessageDialog *dialog = ADW_MESSAGE_DIALOG (self);

  adw_message_dialog_add_responses (dialog, "cancel", _ ("_Cancel"), response, label, NULL);
  adw_message_dialog_set_response_appearance (dialog, response, ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_default_response (dialog, "cancel");
  adw_message_dialog_set_close_response (dialog, "cancel");
  sb_accessible_name_buttons (self);
  return self;
}
