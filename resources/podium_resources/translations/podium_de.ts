<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE" sourcelanguage="en">
<context>
    <name>AboutDialog</name>
    <message>
        <source>About Podium</source>
        <translation>Über Podium</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Version {0}</source>
        <translation>Version {0}</translation>
    </message>
    <message>
        <source>Video with sound from a prompt, all GPUs of this machine on one clip.</source>
        <translation>Video mit Ton aus einem Prompt, alle GPUs dieses Rechners an einem Clip.</translation>
    </message>
    <message>
        <source>Apache License 2.0. The typeface is Inter, under the SIL Open Font License.</source>
        <translation>Apache-Lizenz 2.0. Die Schrift ist Inter, unter der SIL Open Font License.</translation>
    </message>
</context>
<context>
    <name>BlocksField</name>
    <message>
        <source>own</source>
        <translation>eigene</translation>
    </message>
</context>
<context>
    <name>BranchView</name>
    <message>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Sound</source>
        <translation>Ton</translation>
    </message>
    <message>
        <source>Sound to picture</source>
        <translation>Ton zu Bild</translation>
    </message>
    <message>
        <source>Picture to sound</source>
        <translation>Bild zu Ton</translation>
    </message>
</context>
<context>
    <name>CancelButton</name>
    <message>
        <source>Force stop</source>
        <translation>Sofort beenden</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Wird beendet…</translation>
    </message>
</context>
<context>
    <name>ClipActions</name>
    <message>
        <source>Use This Frame as the &amp;First Image</source>
        <translation>Dieses Bild als &amp;erstes Bild</translation>
    </message>
    <message>
        <source>Use This Frame as the Last &amp;Image</source>
        <translation>Dieses Bild als le&amp;tztes Bild</translation>
    </message>
    <message>
        <source>Sa&amp;ve This Frame…</source>
        <translation>Bild s&amp;peichern…</translation>
    </message>
    <message>
        <source>&amp;Copy This Frame</source>
        <translation>Bild &amp;kopieren</translation>
    </message>
    <message>
        <source>Copy the Clip&apos;s Fil&amp;e</source>
        <translation>&amp;Datei des Clips kopieren</translation>
    </message>
    <message>
        <source>E&amp;xport…</source>
        <translation>E&amp;xportieren…</translation>
    </message>
    <message>
        <source>Show in F&amp;older</source>
        <translation>Im &amp;Ordner zeigen</translation>
    </message>
    <message>
        <source>S&amp;tar</source>
        <translation>Ster&amp;n</translation>
    </message>
    <message>
        <source>&amp;Reuse Everything</source>
        <translation>&amp;Alles übernehmen</translation>
    </message>
    <message>
        <source>Reuse Part&amp;s…</source>
        <translation>Te&amp;ile übernehmen…</translation>
    </message>
    <message>
        <source>&amp;Move to the Trash</source>
        <translation>In den Papierkor&amp;b</translation>
    </message>
</context>
<context>
    <name>ClipDesk</name>
    <message>
        <source>PNG pictures (*.png)</source>
        <translation>PNG-Bilder (*.png)</translation>
    </message>
    <message>
        <source>Save This Frame</source>
        <translation>Bild speichern</translation>
    </message>
</context>
<context>
    <name>ClipOpener</name>
    <message>
        <source>Not found on this machine: {0}. Everything else can be reused.</source>
        <translation>Auf diesem Rechner nicht gefunden: {0}. Alles andere kann übernommen werden.</translation>
    </message>
    <message>
        <source>Found by name, but with other content than the clip was made with: {0}.</source>
        <translation>Dem Namen nach gefunden, aber mit anderem Inhalt als dem, mit dem der Clip entstand: {0}.</translation>
    </message>
</context>
<context>
    <name>CloseDialog</name>
    <message>
        <source>Close Podium</source>
        <translation>Podium schließen</translation>
    </message>
    <message>
        <source>Finish the clip and close then, stop it and close now, or stay here.
The queue is kept; a clip that is stopped is in front of it again.</source>
        <translation>Den Clip fertigstellen und dann schließen, ihn abbrechen und jetzt schließen oder hierbleiben.
Die Warteschlange bleibt erhalten; ein abgebrochener Clip steht wieder an ihrer Spitze.</translation>
    </message>
    <message>
        <source>Finish this clip</source>
        <translation>Diesen Clip fertigstellen</translation>
    </message>
    <message>
        <source>Stop and close</source>
        <translation>Abbrechen und schließen</translation>
    </message>
    <message>
        <source>Stay</source>
        <translation>Bleiben</translation>
    </message>
    <message>
        <source>A clip is being made, and one is being exported</source>
        <translation>Ein Clip entsteht, und einer wird exportiert</translation>
    </message>
    <message>
        <source>Finish both and close then, stop both and close now, or stay here.
The queue is kept; of an export that is stopped nothing is left.</source>
        <translation>Beide fertigstellen und dann schließen, beide abbrechen und jetzt schließen oder hierbleiben.
Die Warteschlange bleibt erhalten; von einem abgebrochenen Export bleibt nichts zurück.</translation>
    </message>
    <message>
        <source>Finish both</source>
        <translation>Beide fertigstellen</translation>
    </message>
    <message>
        <source>A clip is being exported</source>
        <translation>Ein Clip wird exportiert</translation>
    </message>
    <message>
        <source>Finish the export and close then, stop it and close now, or stay here.
Of an export that is stopped nothing is left.</source>
        <translation>Den Export fertigstellen und dann schließen, ihn abbrechen und jetzt schließen oder hierbleiben.
Von einem abgebrochenen Export bleibt nichts zurück.</translation>
    </message>
    <message>
        <source>Finish the export</source>
        <translation>Export fertigstellen</translation>
    </message>
    <message>
        <source>A clip is being made</source>
        <translation>Ein Clip entsteht</translation>
    </message>
</context>
<context>
    <name>CompareView</name>
    <message>
        <source>Swap sides (X)</source>
        <translation>Seiten tauschen (X)</translation>
    </message>
    <message>
        <source>Sound of</source>
        <translation>Ton von</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Sound</source>
        <translation>Ton</translation>
    </message>
    <message>
        <source>seed {0}</source>
        <translation>Seed {0}</translation>
    </message>
</context>
<context>
    <name>ComposeState</name>
    <message>
        <source>Write what the clip shall show, and what is to be heard.</source>
        <translation>Schreiben Sie, was der Clip zeigen soll und was zu hören ist.</translation>
    </message>
    <message>
        <source>The prompt is too long: it has {0} tokens, and the model reads {1} at most. Shorten it.</source>
        <translation>Der Prompt ist zu lang: Er hat {0} Token, und das Modell liest höchstens {1}. Kürzen Sie ihn.</translation>
    </message>
</context>
<context>
    <name>ComposeView</name>
    <message>
        <source>Generate</source>
        <translation>Erzeugen</translation>
    </message>
    <message>
        <source>How many clips, with one seed after another</source>
        <translation>Wie viele Clips, mit einem Seed nach dem anderen</translation>
    </message>
    <message>
        <source>Leave it as it was</source>
        <translation>Unverändert lassen</translation>
    </message>
    <message>
        <source>An entry of the queue is edited.</source>
        <translation>Ein Eintrag der Warteschlange wird bearbeitet.</translation>
    </message>
    <message>
        <source>Put back into the queue</source>
        <translation>Zurück in die Warteschlange</translation>
    </message>
    <message>
        <source>Generate {0}</source>
        <translation>{0} erzeugen</translation>
    </message>
</context>
<context>
    <name>ConfirmDialog</name>
    <message>
        <source>Stay</source>
        <translation>Bleiben</translation>
    </message>
</context>
<context>
    <name>DetailsFold</name>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the message and its details</source>
        <translation>Die Meldung mit ihren Einzelheiten kopieren</translation>
    </message>
</context>
<context>
    <name>DeviceRowView</name>
    <message>
        <source>Memory in use</source>
        <translation>Belegter Speicher</translation>
    </message>
    <message>
        <source>Use {0} at {1}</source>
        <translation>{0} an {1} verwenden</translation>
    </message>
    <message>
        <source>{0} of {1} in use</source>
        <translation>{0} von {1} belegt</translation>
    </message>
</context>
<context>
    <name>DeviceView</name>
    <message>
        <source>On GPUs</source>
        <translation>Auf GPUs</translation>
    </message>
    <message>
        <source>On the CPU</source>
        <translation>Auf der CPU</translation>
    </message>
    <message>
        <source>Look again</source>
        <translation>Nochmals suchen</translation>
    </message>
    <message>
        <source>Ranks on the CPU</source>
        <translation>Ränge auf der CPU</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>Ränge</translation>
    </message>
    <message>
        <source>Being looked for…</source>
        <translation>Wird gesucht…</translation>
    </message>
    <message>
        <source>Works on any machine, slowly. Podium takes the CPU only if you do.</source>
        <translation>Läuft auf jedem Rechner, aber langsam. Podium nimmt die CPU nur, wenn Sie sie wählen.</translation>
    </message>
</context>
<context>
    <name>DevicesState</name>
    <message>
        <source>It gives no answer.</source>
        <translation>Keine Antwort.</translation>
    </message>
    <message>
        <source>Clips are made on the CPU, which is slow: minutes or hours where a GPU takes seconds.</source>
        <translation>Clips entstehen auf der CPU, und das ist langsam: Minuten oder Stunden, wo eine GPU Sekunden braucht.</translation>
    </message>
    <message>
        <source>No NVIDIA GPU was found here. Clips can be made on the CPU, slowly, if you choose it.</source>
        <translation>Hier wurde keine NVIDIA-GPU gefunden. Clips können langsam auf der CPU entstehen, wenn Sie sie wählen.</translation>
    </message>
    <message>
        <source>Choose at least one GPU, or the CPU.</source>
        <translation>Wählen Sie mindestens eine GPU oder die CPU.</translation>
    </message>
    <message>
        <source>None of the GPUs here can be used; beside each stands why. The CPU can be chosen instead.</source>
        <translation>Keine der GPUs hier ist verwendbar; bei jeder steht, warum. Stattdessen können Sie die CPU wählen.</translation>
    </message>
</context>
<context>
    <name>EnhanceDialog</name>
    <message>
        <source>Enhance the Prompt</source>
        <translation>Prompt ausarbeiten</translation>
    </message>
    <message>
        <source>Your prompt</source>
        <translation>Ihr Prompt</translation>
    </message>
    <message>
        <source>Written out</source>
        <translation>Ausgearbeitet</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Write again</source>
        <translation>Neu schreiben</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Stop writing</source>
        <translation>Schreiben beenden</translation>
    </message>
    <message>
        <source>End it at its next word</source>
        <translation>Beim nächsten Wort beenden</translation>
    </message>
    <message>
        <source>Being stopped…</source>
        <translation>Wird beendet…</translation>
    </message>
    <message>
        <source>Being written…</source>
        <translation>Wird geschrieben…</translation>
    </message>
</context>
<context>
    <name>EnhanceState</name>
    <message>
        <source>Being written: {0} of at most {1} tokens.</source>
        <translation>Wird geschrieben: {0} von höchstens {1} Token.</translation>
    </message>
</context>
<context>
    <name>EntryRunner</name>
    <message>
        <source>A GPU that this clip was meant for is not here any more. Edit the entry to take another.</source>
        <translation>Eine GPU, für die dieser Clip gedacht war, ist nicht mehr da. Bearbeiten Sie den Eintrag, um eine andere zu nehmen.</translation>
    </message>
</context>
<context>
    <name>EstimateState</name>
    <message>
        <source>GPU {0}</source>
        <translation>GPU {0}</translation>
    </message>
</context>
<context>
    <name>EstimateView</name>
    <message>
        <source>Video tokens</source>
        <translation>Video-Token</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Video tokens: {0}</source>
        <translation>Video-Token: {0}</translation>
    </message>
    <message>
        <source>Time: {0}</source>
        <translation>Zeit: {0}</translation>
    </message>
    <message>
        <source>Memory per GPU</source>
        <translation>Speicher je GPU</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>noch unbekannt</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{0} von {1}</translation>
    </message>
    <message>
        <source>No clip like it was made on this machine yet</source>
        <translation>Auf diesem Rechner entstand noch kein solcher Clip</translation>
    </message>
    <message>
        <source>The fleet starts before, in about {0}</source>
        <translation>Vorher startet der Verbund, in etwa {0}</translation>
    </message>
    <message>
        <source>about {0}</source>
        <translation>etwa {0}</translation>
    </message>
    <message>
        <source>The text encoder waits in this machine’s memory while it has nothing to do.</source>
        <translation>Der Text-Encoder wartet im Arbeitsspeicher dieses Rechners, solange er nichts zu tun hat.</translation>
    </message>
    <message>
        <source>So do the decoders and the upscaler.</source>
        <translation>Ebenso die Decoder und der Upscaler.</translation>
    </message>
    <message>
        <source>Weights without LoRAs are kept in this machine’s memory.</source>
        <translation>Die Gewichte ohne LoRAs liegen im Arbeitsspeicher dieses Rechners.</translation>
    </message>
</context>
<context>
    <name>ExportDialog</name>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Show in Folder</source>
        <translation>Im Ordner zeigen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Cancel the Export</source>
        <translation>Export abbrechen</translation>
    </message>
    <message>
        <source>The clip&apos;s size</source>
        <translation>Größe des Clips</translation>
    </message>
    <message>
        <source>{0} pixels</source>
        <translation>{0} Pixel</translation>
    </message>
    <message>
        <source>Longest side</source>
        <translation>Längste Seite</translation>
    </message>
    <message>
        <source>Goes to</source>
        <translation>Ziel</translation>
    </message>
    <message>
        <source>ProRes 422 HQ</source>
        <translation>ProRes 422 HQ</translation>
    </message>
    <message>
        <source>For editing and grading: a .mov in 10 bits with uncompressed sound.</source>
        <translation>Für Schnitt und Farbkorrektur: eine .mov mit 10 Bit und unkomprimiertem Ton.</translation>
    </message>
    <message>
        <source>DNxHR HQX</source>
        <translation>DNxHR HQX</translation>
    </message>
    <message>
        <source>For editing in Avid and Resolve: a .mov in 10 bits with uncompressed sound.</source>
        <translation>Für den Schnitt in Avid und Resolve: eine .mov mit 10 Bit und unkomprimiertem Ton.</translation>
    </message>
    <message>
        <source>Pictures and sound</source>
        <translation>Bilder und Ton</translation>
    </message>
    <message>
        <source>A folder of numbered PNGs and a WAV, for compositing.</source>
        <translation>Ein Ordner mit nummerierten PNGs und einer WAV, für das Compositing.</translation>
    </message>
    <message>
        <source>GIF</source>
        <translation>GIF</translation>
    </message>
    <message>
        <source>256 colours, silent; plays everywhere.</source>
        <translation>256 Farben, stumm; läuft überall.</translation>
    </message>
    <message>
        <source>WebP</source>
        <translation>WebP</translation>
    </message>
    <message>
        <source>All colours, silent, smaller than a GIF.</source>
        <translation>Alle Farben, stumm, kleiner als ein GIF.</translation>
    </message>
    <message>
        <source>DNxHR takes pictures of {0} × {1} and more.</source>
        <translation>DNxHR nimmt Bilder ab {0} × {1}.</translation>
    </message>
    <message>
        <source>Where the folder of pictures goes</source>
        <translation>Wohin der Bilderordner kommt</translation>
    </message>
    <message>
        <source>{0} files (*{1})</source>
        <translation>{0}-Dateien (*{1})</translation>
    </message>
    <message>
        <source>Being cancelled…</source>
        <translation>Wird abgebrochen…</translation>
    </message>
    <message>
        <source>Being written, {0}</source>
        <translation>Wird geschrieben, {0}</translation>
    </message>
    <message>
        <source>“{0}” was written.</source>
        <translation>„{0}“ wurde geschrieben.</translation>
    </message>
</context>
<context>
    <name>FaultDialog</name>
    <message>
        <source>A Fault in Podium</source>
        <translation>Ein Fehler in Podium</translation>
    </message>
    <message>
        <source>A fault in Podium</source>
        <translation>Ein Fehler in Podium</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>FaultReports</name>
    <message>
        <source>Something went wrong that should not ({0}). You can go on, but some of what is shown may be wrong until Podium is started again.</source>
        <translation>Etwas ging schief, das nicht schiefgehen sollte ({0}). Sie können weiterarbeiten, doch manches Angezeigte kann falsch sein, bis Podium neu gestartet wird.</translation>
    </message>
</context>
<context>
    <name>FleetState</name>
    <message>
        <source>A new fleet is started.</source>
        <translation>Ein neuer Verbund wird gestartet.</translation>
    </message>
    <message>
        <source>{0} freed on {1} devices.</source>
        <translation>{0} auf {1} Geräten freigegeben.</translation>
    </message>
    <message>
        <source>{0} freed on {1}</source>
        <translation>{0} auf {1} freigegeben</translation>
    </message>
    <message>
        <source>{0}.</source>
        <translation>{0}.</translation>
    </message>
    <message>
        <source>Whether the memory on {0} is free cannot be told: it gives no answer.</source>
        <translation>Ob der Speicher auf {0} frei ist, lässt sich nicht sagen: keine Antwort.</translation>
    </message>
    <message>
        <source>{0} on {1} are held still, by {2}.</source>
        <translation>{0} auf {1} sind noch belegt, von {2}.</translation>
    </message>
    <message>
        <source>the CPU</source>
        <translation>der CPU</translation>
    </message>
    <message>
        <source>GPU {0}</source>
        <translation>GPU {0}</translation>
    </message>
</context>
<context>
    <name>FleetView</name>
    <message>
        <source>Start</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Load the model now, so that the first clip begins at once</source>
        <translation>Das Modell jetzt laden, damit der erste Clip sofort beginnt</translation>
    </message>
    <message>
        <source>Unload</source>
        <translation>Entladen</translation>
    </message>
    <message>
        <source>Give the memory back; the next clip loads the model again</source>
        <translation>Den Speicher freigeben; der nächste Clip lädt das Modell neu</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>End the fleet; a clip at work is cancelled first</source>
        <translation>Den Verbund beenden; ein laufender Clip wird vorher abgebrochen</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Wird beendet…</translation>
    </message>
    <message>
        <source>Rank {0} does not respond</source>
        <translation>Rang {0} reagiert nicht</translation>
    </message>
    <message>
        <source>No fleet</source>
        <translation>Kein Verbund</translation>
    </message>
    <message>
        <source>The model loads with the first clip and stays loaded after it. Start loads it now.</source>
        <translation>Das Modell lädt mit dem ersten Clip und bleibt danach geladen. „Starten“ lädt es jetzt.</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Startet</translation>
    </message>
    <message>
        <source>The ranks are being started…</source>
        <translation>Die Ränge werden gestartet…</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>At work</source>
        <translation>Arbeitet</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Endet</translation>
    </message>
    <message>
        <source>The ranks are being ended…</source>
        <translation>Die Ränge werden beendet…</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Blocked</source>
        <translation>Blockiert</translation>
    </message>
</context>
<context>
    <name>ForceTimer</name>
    <message>
        <source>Force stop ends the fleet at once; the weights load again.</source>
        <translation>Beendet den Verbund auf der Stelle; die Gewichte laden danach neu.</translation>
    </message>
    <message>
        <source>Force stop ends the fleet at once; the weights load again, about {0} s.</source>
        <translation>Beendet den Verbund auf der Stelle; die Gewichte laden danach neu, etwa {0} s.</translation>
    </message>
</context>
<context>
    <name>FormatView</name>
    <message>
        <source>Shape</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>Width in pixels</source>
        <translation>Breite in Pixeln</translation>
    </message>
    <message>
        <source>Height in pixels</source>
        <translation>Höhe in Pixeln</translation>
    </message>
    <message>
        <source>Frames per second</source>
        <translation>Bilder pro Sekunde</translation>
    </message>
    <message>
        <source>{0} fps</source>
        <translation>{0} B/s</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>Length in seconds</source>
        <translation>Länge in Sekunden</translation>
    </message>
    <message>
        <source> s</source>
        <translation> s</translation>
    </message>
    <message>
        <source>Length in frames: 8 times a whole number, plus 1</source>
        <translation>Länge in Bildern: ein Vielfaches von 8, plus 1</translation>
    </message>
    <message>
        <source> frames</source>
        <translation> Bilder</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>{0} MP</source>
        <translation>{0} MP</translation>
    </message>
</context>
<context>
    <name>FrameClipPlayer</name>
    <message>
        <source>Clips play without sound, since Qt&apos;s multimedia part cannot be loaded: {0}.</source>
        <translation>Clips laufen ohne Ton, da Qts Multimediateil nicht geladen werden kann: {0}.</translation>
    </message>
</context>
<context>
    <name>GpuCard</name>
    <message>
        <source>Memory of the device</source>
        <translation>Speicher des Geräts</translation>
    </message>
    <message>
        <source>GPU {0}</source>
        <translation>GPU {0}</translation>
    </message>
    <message>
        <source>Held by the last fleet</source>
        <translation>Noch vom letzten Verbund belegt</translation>
    </message>
    <message>
        <source>Chosen for the next fleet</source>
        <translation>Für den nächsten Verbund gewählt</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Blocked</source>
        <translation>Blockiert</translation>
    </message>
    <message>
        <source>Lost</source>
        <translation>Verloren</translation>
    </message>
    <message>
        <source>Not responding</source>
        <translation>Reagiert nicht</translation>
    </message>
    <message>
        <source>No answer</source>
        <translation>Keine Antwort</translation>
    </message>
    <message>
        <source>Memory: not known</source>
        <translation>Speicher: unbekannt</translation>
    </message>
    <message>
        <source>{0} here · {1} elsewhere · {2} free</source>
        <translation>{0} hier · {1} sonst · {2} frei</translation>
    </message>
    <message>
        <source>{0} in use · {1} free</source>
        <translation>{0} belegt · {1} frei</translation>
    </message>
    <message>
        <source>{0} ours · {1} free</source>
        <translation>{0} eigen · {1} frei</translation>
    </message>
    <message>
        <source>{0} ours · {1} others’ · {2} free</source>
        <translation>{0} eigen · {1} fremd · {2} frei</translation>
    </message>
    <message>
        <source>{0} (process {1})</source>
        <translation>{0} (Prozess {1})</translation>
    </message>
    <message>
        <source>{0} (process {1}): {2}</source>
        <translation>{0} (Prozess {1}): {2}</translation>
    </message>
    <message>
        <source>{0} threads</source>
        <translation>{0} Threads</translation>
    </message>
    <message>
        <source>{0} °C</source>
        <translation>{0} °C</translation>
    </message>
    <message>
        <source>{0} W</source>
        <translation>{0} W</translation>
    </message>
</context>
<context>
    <name>GuidanceState</name>
    <message>
        <source>The passes of guidance can be spread out over two devices or more, and one is chosen. Have them run another way, or choose more devices.</source>
        <translation>Die Durchläufe der Führung lassen sich auf zwei oder mehr Geräte verteilen, und eines ist gewählt. Lassen Sie sie anders rechnen, oder wählen Sie mehr Geräte.</translation>
    </message>
    <message>
        <source>With these scales a step takes a single pass, and there is nothing to batch or to spread out. Leave the passes on “Automatic”, or raise a scale.</source>
        <translation>Mit diesen Werten braucht ein Schritt nur einen Durchlauf, und es gibt nichts zu bündeln oder zu verteilen. Lassen Sie die Durchläufe auf „Automatisch“, oder erhöhen Sie einen Wert.</translation>
    </message>
</context>
<context>
    <name>GuidanceView</name>
    <message>
        <source>Steps of the first stage</source>
        <translation>Schritte der ersten Stufe</translation>
    </message>
    <message>
        <source>Distilled LoRA in stage 1</source>
        <translation>Destilliertes LoRA in Stufe 1</translation>
    </message>
    <message>
        <source>Distilled LoRA in stage 2</source>
        <translation>Destilliertes LoRA in Stufe 2</translation>
    </message>
    <message>
        <source>Rows of tiles in stage 2</source>
        <translation>Kachelreihen in Stufe 2</translation>
    </message>
    <message>
        <source>Columns of tiles in stage 2</source>
        <translation>Kachelspalten in Stufe 2</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>auto</translation>
    </message>
    <message>
        <source>Reset to the model&apos;s own</source>
        <translation>Auf die Werte des Modells zurücksetzen</translation>
    </message>
    <message>
        <source>Fast is not guided</source>
        <translation>„Schnell“ ist nicht geführt</translation>
    </message>
    <message>
        <source>Guidance</source>
        <translation>Führung</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Sound</source>
        <translation>Ton</translation>
    </message>
    <message>
        <source>Blocks that STG perturbs, counted from 0: 28, or 14, 19</source>
        <translation>Blöcke, die STG stört, gezählt ab 0: 28, oder 14, 19</translation>
    </message>
    <message>
        <source>STG blocks</source>
        <translation>STG-Blöcke</translation>
    </message>
    <message>
        <source>Stage 1</source>
        <translation>Stufe 1</translation>
    </message>
    <message>
        <source>Stage 2</source>
        <translation>Stufe 2</translation>
    </message>
    <message>
        <source>Distilled LoRA</source>
        <translation>Destilliertes LoRA</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>Reihen</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>Spalten</translation>
    </message>
    <message>
        <source>Tiles of stage 2</source>
        <translation>Kacheln, Stufe 2</translation>
    </message>
    <message>
        <source>Passes</source>
        <translation>Durchläufe</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>One after another</source>
        <translation>Nacheinander</translation>
    </message>
    <message>
        <source>As one batch</source>
        <translation>Gemeinsam</translation>
    </message>
    <message>
        <source>Spread out</source>
        <translation>Verteilt</translation>
    </message>
    <message>
        <source>How the passes of a guided step run, up to four of them; the clip is the same</source>
        <translation>Wie die bis zu vier Durchläufe eines geführten Schritts rechnen; der Clip bleibt derselbe</translation>
    </message>
    <message>
        <source>CFG</source>
        <translation>CFG</translation>
    </message>
    <message>
        <source>pull away from the negative prompt; 1 does nothing</source>
        <translation>weg vom negativen Prompt; 1 bewirkt nichts</translation>
    </message>
    <message>
        <source>STG</source>
        <translation>STG</translation>
    </message>
    <message>
        <source>pull towards coherent motion; 0 does nothing</source>
        <translation>hin zu stimmiger Bewegung; 0 bewirkt nichts</translation>
    </message>
    <message>
        <source>Rescale</source>
        <translation>Ausgleich</translation>
    </message>
    <message>
        <source>how much of the contrast that guidance adds is taken back, 0 to 1</source>
        <translation>wie viel des Kontrasts, den die Führung hinzufügt, zurückgenommen wird, 0 bis 1</translation>
    </message>
    <message>
        <source>Modality</source>
        <translation>Modalität</translation>
    </message>
    <message>
        <source>pull picture and sound together; 1 does nothing</source>
        <translation>Bild und Ton zusammenführen; 1 bewirkt nichts</translation>
    </message>
    <message>
        <source>Skip steps</source>
        <translation>Auslassen</translation>
    </message>
    <message>
        <source>guide on every step, or leave so many out after each</source>
        <translation>in jedem Schritt führen, oder nach jedem so viele auslassen</translation>
    </message>
    <message>
        <source>Quality and HQ are guided; Fast is not.</source>
        <translation>„Qualität“ und „HQ“ sind geführt, „Schnell“ nicht.</translation>
    </message>
    <message>
        <source>The values show once a model is chosen.</source>
        <translation>Die Werte erscheinen, sobald ein Modell gewählt ist.</translation>
    </message>
</context>
<context>
    <name>HeaderView</name>
    <message>
        <source>Choose the model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>Choose the devices</source>
        <translation>Geräte wählen</translation>
    </message>
    <message>
        <source>Show the fleet</source>
        <translation>Verbund zeigen</translation>
    </message>
    <message>
        <source>Looking at the model…</source>
        <translation>Das Modell wird geprüft…</translation>
    </message>
    <message>
        <source>No model chosen</source>
        <translation>Kein Modell gewählt</translation>
    </message>
    <message>
        <source>Demo model</source>
        <translation>Demomodell</translation>
    </message>
    <message>
        <source>Not responding</source>
        <translation>Reagiert nicht</translation>
    </message>
    <message>
        <source>No device chosen</source>
        <translation>Kein Gerät gewählt</translation>
    </message>
    <message>
        <source>CPU, ranks: {0}</source>
        <translation>CPU, Ränge: {0}</translation>
    </message>
    <message>
        <source>GPUs: {0}</source>
        <translation>GPUs: {0}</translation>
    </message>
    <message>
        <source>Not loaded</source>
        <translation>Nicht geladen</translation>
    </message>
    <message>
        <source>Loading…</source>
        <translation>Lädt…</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>At work</source>
        <translation>Arbeitet</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Wird beendet…</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Blocked</source>
        <translation>Blockiert</translation>
    </message>
</context>
<context>
    <name>HistoryActions</name>
    <message>
        <source>Show on the &amp;Stage</source>
        <translation>Auf der &amp;Bühne zeigen</translation>
    </message>
    <message>
        <source>S&amp;tar</source>
        <translation>Ster&amp;n</translation>
    </message>
    <message>
        <source>&amp;Compare</source>
        <translation>&amp;Vergleichen</translation>
    </message>
    <message>
        <source>&amp;Reuse Everything</source>
        <translation>&amp;Alles übernehmen</translation>
    </message>
    <message>
        <source>Reuse &amp;Parts…</source>
        <translation>&amp;Teile übernehmen…</translation>
    </message>
    <message>
        <source>Use as the First &amp;Image</source>
        <translation>Als erstes B&amp;ild verwenden</translation>
    </message>
    <message>
        <source>Show in F&amp;older</source>
        <translation>Im &amp;Ordner zeigen</translation>
    </message>
    <message>
        <source>E&amp;xport…</source>
        <translation>E&amp;xportieren…</translation>
    </message>
    <message>
        <source>&amp;Move to the Trash</source>
        <translation>In den &amp;Papierkorb</translation>
    </message>
    <message>
        <source>&amp;Find…</source>
        <translation>&amp;Suchen…</translation>
    </message>
    <message>
        <source>&amp;Starred Only</source>
        <translation>Nur &amp;markierte</translation>
    </message>
    <message>
        <source>As a &amp;List</source>
        <translation>Als &amp;Liste</translation>
    </message>
    <message>
        <source>&amp;Back to the Clip at Work</source>
        <translation>&amp;Zurück zum laufenden Clip</translation>
    </message>
    <message>
        <source>Forget Clips Whose Files Are &amp;Gone</source>
        <translation>Clips ver&amp;gessen, deren Dateien fehlen</translation>
    </message>
</context>
<context>
    <name>HistoryModel</name>
    <message>
        <source>{0}, {1} by {2} pixels, {3} seconds, seed {4}</source>
        <translation>{0}, {1} mal {2} Pixel, {3} Sekunden, Seed {4}</translation>
    </message>
    <message>
        <source>{0}, starred</source>
        <translation>{0}, markiert</translation>
    </message>
</context>
<context>
    <name>HistoryState</name>
    <message>
        <source>“{0}” could not be moved to the trash. It lies where it lay.</source>
        <translation>„{0}“ konnte nicht in den Papierkorb gelegt werden. Die Datei liegt, wo sie lag.</translation>
    </message>
</context>
<context>
    <name>HistoryView</name>
    <message>
        <source>Search prompts</source>
        <translation>Prompts durchsuchen</translation>
    </message>
    <message>
        <source>Search the history</source>
        <translation>Verlauf durchsuchen</translation>
    </message>
    <message>
        <source>Filter by LoRA</source>
        <translation>Nach LoRA filtern</translation>
    </message>
    <message>
        <source>Filter by model</source>
        <translation>Nach Modell filtern</translation>
    </message>
    <message>
        <source>Back to the clip at work</source>
        <translation>Zurück zum laufenden Clip</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>More for the history</source>
        <translation>Mehr zum Verlauf</translation>
    </message>
    <message>
        <source>Clips</source>
        <translation>Clips</translation>
    </message>
    <message>
        <source>Compare the two chosen clips, or the one chosen with the one on the Stage (C)</source>
        <translation>Die zwei gewählten Clips vergleichen, oder den gewählten mit dem auf der Bühne (C)</translation>
    </message>
    <message>
        <source>No clip is found. Search for other words, or take the filters off.</source>
        <translation>Kein Clip gefunden. Suchen Sie nach anderen Wörtern, oder nehmen Sie die Filter weg.</translation>
    </message>
    <message>
        <source>Finished clips are kept here, and in your clips folder.</source>
        <translation>Fertige Clips stehen hier und liegen in Ihrem Ordner für Clips.</translation>
    </message>
    <message>
        <source>Clips: {0}</source>
        <translation>Clips: {0}</translation>
    </message>
    <message>
        <source>All LoRAs</source>
        <translation>Alle LoRAs</translation>
    </message>
    <message>
        <source>All models</source>
        <translation>Alle Modelle</translation>
    </message>
</context>
<context>
    <name>ImageItemView</name>
    <message>
        <source>The picture</source>
        <translation>Das Bild</translation>
    </message>
    <message>
        <source>Take the picture out</source>
        <translation>Bild herausnehmen</translation>
    </message>
    <message>
        <source>First frame</source>
        <translation>Erstes Bild</translation>
    </message>
    <message>
        <source>Last frame</source>
        <translation>Letztes Bild</translation>
    </message>
    <message>
        <source>At frame</source>
        <translation>Bei Bild</translation>
    </message>
    <message>
        <source>Frame, counted from 0</source>
        <translation>Bild, gezählt ab 0</translation>
    </message>
    <message>
        <source>Strength of the picture</source>
        <translation>Stärke des Bildes</translation>
    </message>
    <message>
        <source>Compression before the model sees it: 0 for none, 51 for the most</source>
        <translation>Kompression, bevor das Modell es sieht: 0 keine, 51 die stärkste</translation>
    </message>
    <message>
        <source>Model&apos;s own</source>
        <translation>Wie im Modell</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
    <message>
        <source>Where {0} stands</source>
        <translation>Wo {0} steht</translation>
    </message>
    <message>
        <source>Where the picture stands in the clip</source>
        <translation>Wo das Bild im Clip steht</translation>
    </message>
    <message>
        <source>Compression (CRF)</source>
        <translation>Kompression (CRF)</translation>
    </message>
    <message>
        <source>Strength</source>
        <translation>Stärke</translation>
    </message>
</context>
<context>
    <name>ImageView</name>
    <message>
        <source>Add…</source>
        <translation>Hinzufügen…</translation>
    </message>
    <message>
        <source>Add pictures</source>
        <translation>Bilder hinzufügen</translation>
    </message>
    <message>
        <source>Drop or paste pictures to start from</source>
        <translation>Ausgangsbilder hierher ziehen oder einfügen</translation>
    </message>
    <message>
        <source>Pictures</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Pictures ({0})</source>
        <translation>Bilder ({0})</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Bring the picture back</source>
        <translation>Das Bild zurückholen</translation>
    </message>
    <message>
        <source>“{0}” was taken out.</source>
        <translation>„{0}“ wurde herausgenommen.</translation>
    </message>
    <message>
        <source>{1} pictures were taken out.</source>
        <translation>{1} Bilder wurden herausgenommen.</translation>
    </message>
</context>
<context>
    <name>ImagesState</name>
    <message>
        <source>“{0}” stands at frame {1} twice. Move one of them, or take it out.</source>
        <translation>„{0}“ steht zweimal bei Bild {1}. Verschieben Sie eines davon, oder nehmen Sie es heraus.</translation>
    </message>
    <message>
        <source>“{0}” and “{1}” stand at the same frame, {2}. Move one of them, or take it out.</source>
        <translation>„{0}“ und „{1}“ stehen beim selben Bild, {2}. Verschieben Sie eines davon, oder nehmen Sie es heraus.</translation>
    </message>
</context>
<context>
    <name>KeyframesView</name>
    <message>
        <source>Key frames made by the model</source>
        <translation>Schlüsselbilder aus dem Modell</translation>
    </message>
    <message>
        <source>0 to {0}, spread evenly over the clip</source>
        <translation>0 bis {0}, gleichmäßig über den Clip verteilt</translation>
    </message>
</context>
<context>
    <name>Language</name>
    <message>
        <source>en</source>
        <translation>de</translation>
    </message>
</context>
<context>
    <name>LinksBadge</name>
    <message>
        <source>Linked by NVLink</source>
        <translation>Über NVLink verbunden</translation>
    </message>
    <message>
        <source>Linked over the PCI bus</source>
        <translation>Über den PCI-Bus verbunden</translation>
    </message>
    <message>
        <source>No direct link between GPUs</source>
        <translation>Keine direkte Verbindung der GPUs</translation>
    </message>
</context>
<context>
    <name>LinksView</name>
    <message>
        <source>Links between the GPUs</source>
        <translation>Verbindungen der GPUs</translation>
    </message>
</context>
<context>
    <name>LogView</name>
    <message>
        <source>Log of</source>
        <translation>Protokoll von</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Nothing was logged.</source>
        <translation>Nichts wurde protokolliert.</translation>
    </message>
    <message>
        <source>Rank {0}</source>
        <translation>Rang {0}</translation>
    </message>
</context>
<context>
    <name>LoraItemView</name>
    <message>
        <source>Move it: drag, or press the arrow keys</source>
        <translation>Verschieben: ziehen oder Pfeiltasten drücken</translation>
    </message>
    <message>
        <source>Take out of the stack</source>
        <translation>Aus dem Stapel nehmen</translation>
    </message>
    <message>
        <source>Strengths by branch</source>
        <translation>Stärken je Zweig</translation>
    </message>
    <message>
        <source>Apply {0}</source>
        <translation>{0} anwenden</translation>
    </message>
    <message>
        <source>Apply to the next clip</source>
        <translation>Auf den nächsten Clip anwenden</translation>
    </message>
    <message>
        <source>Move {0}: press the arrow keys</source>
        <translation>{0} verschieben: Pfeiltasten drücken</translation>
    </message>
    <message>
        <source>Strength of {0}</source>
        <translation>Stärke von {0}</translation>
    </message>
    <message>
        <source>Strengths by branch: changed</source>
        <translation>Stärken je Zweig: geändert</translation>
    </message>
    <message>
        <source>Beyond ±{0} most LoRAs only break the picture.</source>
        <translation>Jenseits von ±{0} zerstören die meisten LoRAs nur das Bild.</translation>
    </message>
    <message>
        <source>The model it was trained for, as its file tells</source>
        <translation>Das Modell, für das es trainiert wurde, laut seiner Datei</translation>
    </message>
    <message>
        <source>Being read…</source>
        <translation>Wird gelesen…</translation>
    </message>
    <message>
        <source>All of its {0} layers match this model.</source>
        <translation>Alle seine {0} Ebenen passen zu diesem Modell.</translation>
    </message>
    <message>
        <source>{0} layers match this model; others are left out.</source>
        <translation>{0} Ebenen passen zu diesem Modell; andere bleiben weg.</translation>
    </message>
</context>
<context>
    <name>LoraStackState</name>
    <message>
        <source>{0} LoRAs were trained for other models than {1}: they may do little, or something else.</source>
        <translation>{0} LoRAs wurden für andere Modelle als {1} trainiert: Sie bewirken vielleicht wenig oder etwas anderes.</translation>
    </message>
    <message>
        <source>“{0}” was trained for {1}, and this model is {2}: it may do little, or something else.</source>
        <translation>„{0}“ wurde für {1} trainiert, und dieses Modell ist {2}: Es bewirkt vielleicht wenig oder etwas anderes.</translation>
    </message>
</context>
<context>
    <name>LoraStackView</name>
    <message>
        <source>Add…</source>
        <translation>Hinzufügen…</translation>
    </message>
    <message>
        <source>Add LoRA files</source>
        <translation>LoRA-Dateien hinzufügen</translation>
    </message>
    <message>
        <source>Drop LoRA files, or add them</source>
        <translation>LoRA-Dateien hierher ziehen oder hinzufügen</translation>
    </message>
    <message>
        <source>LoRAs</source>
        <translation>LoRAs</translation>
    </message>
    <message>
        <source>Add LoRAs</source>
        <translation>LoRAs hinzufügen</translation>
    </message>
    <message>
        <source>LoRAs ({0})</source>
        <translation>LoRAs ({0})</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Queue</source>
        <translation>Warteschlange</translation>
    </message>
    <message>
        <source>History</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>Fleet</source>
        <translation>Verbund</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>On the Stage</source>
        <translation>Auf der Bühne</translation>
    </message>
    <message>
        <source>In the History</source>
        <translation>Im Verlauf</translation>
    </message>
    <message>
        <source>Exporting “{0}”, {1}</source>
        <translation>„{0}“ wird exportiert, {1}</translation>
    </message>
    <message>
        <source>Queue ({0})</source>
        <translation>Warteschlange ({0})</translation>
    </message>
    <message>
        <source>Clips go to {0}</source>
        <translation>Clips kommen nach {0}</translation>
    </message>
    <message>
        <source>{0}. Podium closes once this is done.</source>
        <translation>{0}. Danach schließt sich Podium.</translation>
    </message>
    <message>
        <source>An entry of the queue is in the form: Generate puts it back in its place.</source>
        <translation>Ein Eintrag der Warteschlange steht im Formular: „Erzeugen“ bringt ihn zurück an seinen Platz.</translation>
    </message>
    <message>
        <source>{0}. Podium closes once this clip is finished.</source>
        <translation>{0}. Podium schließt sich, sobald dieser Clip fertig ist.</translation>
    </message>
    <message>
        <source>Finished: {0}</source>
        <translation>Fertig: {0}</translation>
    </message>
    <message>
        <source>Stopped. No file was written.</source>
        <translation>Abgebrochen. Es wurde keine Datei geschrieben.</translation>
    </message>
    <message>
        <source>The clip was not made.</source>
        <translation>Der Clip ist nicht entstanden.</translation>
    </message>
    <message>
        <source>The clip was not begun.</source>
        <translation>Der Clip wurde nicht begonnen.</translation>
    </message>
    <message>
        <source>Ready. {0} makes the clip.</source>
        <translation>Bereit. {0} erzeugt den Clip.</translation>
    </message>
</context>
<context>
    <name>ManagePresetsDialog</name>
    <message>
        <source>Manage Presets</source>
        <translation>Voreinstellungen verwalten</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>Voreinstellungen</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
</context>
<context>
    <name>MediaClipPlayer</name>
    <message>
        <source>The clip is there and cannot be played here. Another player may open it.</source>
        <translation>Der Clip ist da, kann hier aber nicht abgespielt werden. Vielleicht öffnet ihn ein anderes Programm.</translation>
    </message>
</context>
<context>
    <name>Messages</name>
    <message>
        <source>The memory of a device did not suffice. Fewer frames, a smaller size, or more GPUs may do; so may closing what else uses them.</source>
        <translation>Der Speicher eines Geräts reichte nicht. Weniger Bilder, eine kleinere Größe oder mehr GPUs können helfen, ebenso das Schließen anderer Programme darauf.</translation>
    </message>
    <message>
        <source>A rank failed on a fault in Podium or beneath it. The details tell where.</source>
        <translation>Ein Rang scheiterte an einem Fehler in Podium oder darunter. Die Einzelheiten sagen, wo.</translation>
    </message>
    <message>
        <source>The clip took longer than it was given, and the fleet was stopped.</source>
        <translation>Der Clip brauchte länger, als ihm zustand, und der Verbund wurde beendet.</translation>
    </message>
    <message>
        <source>The fleet was not ready in time and was stopped. The details tell what each device was at.</source>
        <translation>Der Verbund war nicht rechtzeitig bereit und wurde beendet. Die Einzelheiten sagen, woran jedes Gerät war.</translation>
    </message>
    <message>
        <source>The devices did not agree on what is wrong with this clip. Start the fleet anew.</source>
        <translation>Die Geräte waren sich nicht einig, was an diesem Clip nicht stimmt. Starten Sie den Verbund neu.</translation>
    </message>
    <message>
        <source>Podium failed on a fault of its own ({0}). The details tell where.</source>
        <translation>Podium scheiterte an einem eigenen Fehler ({0}). Die Einzelheiten sagen, wo.</translation>
    </message>
    <message>
        <source>{0} Fewer devices on the CPU, a smaller clip, or more memory in the machine may do.</source>
        <translation>{0} Weniger Ränge auf der CPU, ein kleinerer Clip oder mehr Arbeitsspeicher können helfen.</translation>
    </message>
    <message>
        <source>{0} That is the second failure in a row, so no new fleet is started by itself.</source>
        <translation>{0} Das ist der zweite Ausfall in Folge, daher startet von selbst kein neuer Verbund.</translation>
    </message>
    <message>
        <source>{0} That is another failure in a row, so no new fleet is started by itself.</source>
        <translation>{0} Das ist ein weiterer Ausfall in Folge, daher startet von selbst kein neuer Verbund.</translation>
    </message>
    <message>
        <source>The job ended without a result. That is a fault in Podium.</source>
        <translation>Der Auftrag endete ohne Ergebnis. Das ist ein Fehler in Podium.</translation>
    </message>
</context>
<context>
    <name>Notifications</name>
    <message>
        <source>A clip is finished</source>
        <translation>Ein Clip ist fertig</translation>
    </message>
    <message>
        <source>Finished: {0}. Not made: {1}.</source>
        <translation>Fertig: {0}. Nicht entstanden: {1}.</translation>
    </message>
    <message>
        <source>The queue is done</source>
        <translation>Die Warteschlange ist abgearbeitet</translation>
    </message>
    <message>
        <source>A clip was not made</source>
        <translation>Ein Clip ist nicht entstanden</translation>
    </message>
    <message>
        <source>The queue is paused</source>
        <translation>Die Warteschlange ist angehalten</translation>
    </message>
</context>
<context>
    <name>Numbers</name>
    <message>
        <source>{0}%</source>
        <translation>{0} %</translation>
    </message>
    <message>
        <source>dd MMM HH:mm</source>
        <translation>dd. MMM HH:mm</translation>
    </message>
</context>
<context>
    <name>PackFileView</name>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Choose the file: {0}</source>
        <translation>Datei wählen: {0}</translation>
    </message>
    <message>
        <source>Do without it: {0}</source>
        <translation>Ohne diese Datei: {0}</translation>
    </message>
    <message>
        <source>Model files ({0})</source>
        <translation>Modelldateien ({0})</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Ändern…</translation>
    </message>
    <message>
        <source>The video and sound model: one .safetensors file, whole or its transformer alone.</source>
        <translation>Das Modell für Bild und Ton: eine .safetensors-Datei, ganz oder nur sein Transformer.</translation>
    </message>
    <message>
        <source>Reads your prompt: the folder of Gemma 3 with its tokenizer, about 24&#xa0;GB.</source>
        <translation>Liest Ihren Prompt: der Ordner von Gemma 3 mit seinem Tokenizer, etwa 24&#xa0;GB.</translation>
    </message>
    <message>
        <source>Reads your prompt: the text encoder&apos;s file of the same model, about 26&#xa0;GB.</source>
        <translation>Liest Ihren Prompt: die Text-Encoder-Datei desselben Modells, etwa 26&#xa0;GB.</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>Checkpoint</translation>
    </message>
    <message>
        <source>Text encoder</source>
        <translation>Text-Encoder</translation>
    </message>
    <message>
        <source>Spatial upscaler</source>
        <translation>Räumlicher Upscaler</translation>
    </message>
    <message>
        <source>Enlarges the draft to full size: one .safetensors file, about 1&#xa0;GB.</source>
        <translation>Vergrößert den Entwurf auf volle Größe: eine .safetensors-Datei, etwa 1&#xa0;GB.</translation>
    </message>
    <message>
        <source>Distilled LoRA</source>
        <translation>Destilliertes LoRA</translation>
    </message>
    <message>
        <source>Quality and HQ refine with it: one .safetensors file. Fast does without.</source>
        <translation>„Qualität“ und „HQ“ verfeinern damit: eine .safetensors-Datei. „Schnell“ kommt ohne aus.</translation>
    </message>
    <message>
        <source>Video VAE</source>
        <translation>Video-VAE</translation>
    </message>
    <message>
        <source>Turns latents into pictures, about 1.5&#xa0;GB.</source>
        <translation>Macht aus Latents Bilder, etwa 1,5&#xa0;GB.</translation>
    </message>
    <message>
        <source>Audio VAE</source>
        <translation>Audio-VAE</translation>
    </message>
    <message>
        <source>Turns latents into sound, about 0.4&#xa0;GB.</source>
        <translation>Macht aus Latents Ton, etwa 0,4&#xa0;GB.</translation>
    </message>
    <message>
        <source>Duration head</source>
        <translation>Längenschätzer</translation>
    </message>
    <message>
        <source>Guesses a clip&apos;s length from the prompt, about 8&#xa0;MB. A model does without.</source>
        <translation>Schätzt die Länge eines Clips aus dem Prompt, etwa 8&#xa0;MB. Ein Modell kommt ohne aus.</translation>
    </message>
    <message>
        <source>Being looked at…</source>
        <translation>Wird geprüft…</translation>
    </message>
    <message>
        <source>distilled</source>
        <translation>destilliert</translation>
    </message>
    <message>
        <source>{0} layers</source>
        <translation>{0} Ebenen</translation>
    </message>
</context>
<context>
    <name>PackState</name>
    <message>
        <source>Quality</source>
        <translation>Qualität</translation>
    </message>
    <message>
        <source>HQ</source>
        <translation>HQ</translation>
    </message>
    <message>
        <source>{0} refines with the distilled LoRA of your model. Choose its file among the model&apos;s, or Fast.</source>
        <translation>„{0}“ verfeinert mit dem destillierten LoRA Ihres Modells. Wählen Sie dessen Datei unter denen des Modells, oder „Schnell“.</translation>
    </message>
    <message>
        <source>The demo model is being written, once.</source>
        <translation>Das Demomodell wird geschrieben, einmalig.</translation>
    </message>
    <message>
        <source>Demo model: it knows a shape that moves over a background, and makes no sound.</source>
        <translation>Demomodell: Es kennt eine Form, die sich vor einem Hintergrund bewegt, und erzeugt keinen Ton.</translation>
    </message>
    <message>
        <source>the checkpoint</source>
        <translation>den Checkpoint</translation>
    </message>
    <message>
        <source>the text encoder</source>
        <translation>den Text-Encoder</translation>
    </message>
    <message>
        <source>the Gemma folder</source>
        <translation>den Gemma-Ordner</translation>
    </message>
    <message>
        <source>the spatial upscaler</source>
        <translation>den räumlichen Upscaler</translation>
    </message>
    <message>
        <source>the video VAE</source>
        <translation>den Video-VAE</translation>
    </message>
    <message>
        <source>the audio VAE</source>
        <translation>den Audio-VAE</translation>
    </message>
    <message>
        <source> and </source>
        <translation> und </translation>
    </message>
    <message>
        <source>Choose {0}, or try the demo model.</source>
        <translation>Wählen Sie {0}, oder probieren Sie das Demomodell aus.</translation>
    </message>
    <message>
        <source>“{0}” is {1}. In the distilled LoRA&apos;s place choose the LoRA that was published with your model.</source>
        <translation>„{0}“ ist {1}. Wählen Sie an der Stelle des destillierten LoRAs das LoRA, das mit Ihrem Modell veröffentlicht wurde.</translation>
    </message>
    <message>
        <source>distilled</source>
        <translation>destilliert</translation>
    </message>
</context>
<context>
    <name>PackView</name>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
</context>
<context>
    <name>PanelDialog</name>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
</context>
<context>
    <name>Phase</name>
    <message>
        <source>Starting</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Joining the devices</source>
        <translation>Geräte verbinden sich</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Modell laden</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>Applying LoRAs</source>
        <translation>LoRAs anwenden</translation>
    </message>
    <message>
        <source>Reading the prompt</source>
        <translation>Prompt lesen</translation>
    </message>
    <message>
        <source>Compiling</source>
        <translation>Kompilieren</translation>
    </message>
    <message>
        <source>Stage 1</source>
        <translation>Stufe 1</translation>
    </message>
    <message>
        <source>Enlarging</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <source>Stage 2</source>
        <translation>Stufe 2</translation>
    </message>
    <message>
        <source>Decoding</source>
        <translation>Decodieren</translation>
    </message>
    <message>
        <source>Writing the file</source>
        <translation>Datei schreiben</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Beenden</translation>
    </message>
</context>
<context>
    <name>PictureView</name>
    <message>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
</context>
<context>
    <name>PipelineView</name>
    <message>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>Choose the file…</source>
        <translation>Datei wählen…</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>Schnell</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>Qualität</translation>
    </message>
    <message>
        <source>HQ</source>
        <translation>HQ</translation>
    </message>
    <message>
        <source>Needs your model&apos;s distilled LoRA.</source>
        <translation>Braucht das destillierte LoRA Ihres Modells.</translation>
    </message>
    <message>
        <source>Few steps, no guidance: made for distilled checkpoints.</source>
        <translation>Wenige Schritte, keine Führung: für destillierte Checkpoints.</translation>
    </message>
    <message>
        <source>Guided, with a negative prompt: follows the prompt closely, several times slower.</source>
        <translation>Geführt, mit negativem Prompt: folgt dem Prompt genau, um ein Mehrfaches langsamer.</translation>
    </message>
    <message>
        <source>Guided by a finer sampler, in fewer and slower steps.</source>
        <translation>Geführt von einem feineren Sampler, in weniger und langsameren Schritten.</translation>
    </message>
</context>
<context>
    <name>PodiumWindow</name>
    <message>
        <source>The picture cannot be kept in “{0}”. Make room on that disk, or the folder writable.</source>
        <translation>Das Bild kann nicht in „{0}“ abgelegt werden. Schaffen Sie Platz auf diesem Datenträger, oder machen Sie den Ordner beschreibbar.</translation>
    </message>
</context>
<context>
    <name>PresetView</name>
    <message>
        <source>Presets</source>
        <translation>Voreinstellungen</translation>
    </message>
    <message>
        <source>Settings of this form under names of your own</source>
        <translation>Einstellungen dieses Formulars unter eigenen Namen</translation>
    </message>
    <message>
        <source>No preset yet</source>
        <translation>Noch keine Voreinstellung</translation>
    </message>
    <message>
        <source>Save as Preset…</source>
        <translation>Als Voreinstellung sichern…</translation>
    </message>
    <message>
        <source>Manage Presets…</source>
        <translation>Voreinstellungen verwalten…</translation>
    </message>
</context>
<context>
    <name>PresetsState</name>
    <message>
        <source>Give the preset a name.</source>
        <translation>Geben Sie der Voreinstellung einen Namen.</translation>
    </message>
    <message>
        <source>There is a preset “{0}” already. Choose another name.</source>
        <translation>Es gibt schon eine Voreinstellung „{0}“. Wählen Sie einen anderen Namen.</translation>
    </message>
</context>
<context>
    <name>ProgressView</name>
    <message>
        <source>Cancelling…</source>
        <translation>Wird abgebrochen…</translation>
    </message>
    <message>
        <source>about {0} left</source>
        <translation>noch etwa {0}</translation>
    </message>
    <message>
        <source>Checking the request…</source>
        <translation>Der Auftrag wird geprüft…</translation>
    </message>
    <message>
        <source>Starting the devices and loading the model…</source>
        <translation>Die Geräte starten, und das Modell lädt…</translation>
    </message>
    <message>
        <source>Working…</source>
        <translation>Arbeitet…</translation>
    </message>
    <message>
        <source>{0}, step {1} of {2}</source>
        <translation>{0}, Schritt {1} von {2}</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>End this clip at its next step (Esc)</source>
        <translation>Diesen Clip beim nächsten Schritt abbrechen (Esc)</translation>
    </message>
</context>
<context>
    <name>PromptPopup</name>
    <message>
        <source>Search prompts</source>
        <translation>Prompts durchsuchen</translation>
    </message>
    <message>
        <source>Prompts of before</source>
        <translation>Frühere Prompts</translation>
    </message>
    <message>
        <source>No prompt of before holds these words.</source>
        <translation>Kein früherer Prompt enthält diese Wörter.</translation>
    </message>
    <message>
        <source>What you generate is kept here.</source>
        <translation>Was Sie erzeugen, steht hier.</translation>
    </message>
</context>
<context>
    <name>PromptRunner</name>
    <message>
        <source>This was stopped before it was done.</source>
        <translation>Das wurde abgebrochen, bevor es fertig war.</translation>
    </message>
    <message>
        <source>The fleet starts first.</source>
        <translation>Zuerst startet der Verbund.</translation>
    </message>
    <message>
        <source>It waits for what is at work.</source>
        <translation>Es wartet auf das, was gerade läuft.</translation>
    </message>
</context>
<context>
    <name>PromptView</name>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Enhance: have the prompt written out…</source>
        <translation>Ausarbeiten: den Prompt ausschreiben lassen…</translation>
    </message>
    <message>
        <source>Prompts of before</source>
        <translation>Frühere Prompts</translation>
    </message>
    <message>
        <source>Describe the clip as one flowing paragraph: the scene, what moves, the camera, what is heard.</source>
        <translation>Beschreiben Sie den Clip in einem fließenden Absatz: die Szene, was sich bewegt, die Kamera, was zu hören ist.</translation>
    </message>
    <message>
        <source>Negative prompt</source>
        <translation>Negativer Prompt</translation>
    </message>
    <message>
        <source>{0} of {1} tokens</source>
        <translation>{0} von {1} Token</translation>
    </message>
    <message>
        <source>Fast knows none. Quality and HQ do.</source>
        <translation>„Schnell“ kennt keinen. „Qualität“ und „HQ“ schon.</translation>
    </message>
    <message>
        <source>What to stay away from</source>
        <translation>Was vermieden werden soll</translation>
    </message>
</context>
<context>
    <name>QuantizationView</name>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>fp8, with the file&apos;s scales</source>
        <translation>fp8, mit den Skalen der Datei</translation>
    </message>
    <message>
        <source>This checkpoint is stored so, and stays so.</source>
        <translation>Dieser Checkpoint ist so gespeichert und bleibt so.</translation>
    </message>
    <message>
        <source>As stored</source>
        <translation>Wie gespeichert</translation>
    </message>
    <message>
        <source>fp8</source>
        <translation>fp8</translation>
    </message>
    <message>
        <source>The weights keep their full precision.</source>
        <translation>Die Gewichte behalten ihre volle Genauigkeit.</translation>
    </message>
    <message>
        <source>The weights take half the memory, and fine detail may suffer.</source>
        <translation>Die Gewichte brauchen halb so viel Speicher, und feine Einzelheiten können leiden.</translation>
    </message>
</context>
<context>
    <name>QueueActions</name>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;Duplicate</source>
        <translation>&amp;Duplizieren</translation>
    </message>
    <message>
        <source>Pass &amp;Over</source>
        <translation>Übe&amp;rspringen</translation>
    </message>
    <message>
        <source>&amp;Retry</source>
        <translation>&amp;Nochmals versuchen</translation>
    </message>
    <message>
        <source>Move to the &amp;Front</source>
        <translation>An den An&amp;fang</translation>
    </message>
    <message>
        <source>Move &amp;Up</source>
        <translation>Nach &amp;oben</translation>
    </message>
    <message>
        <source>Move Dow&amp;n</source>
        <translation>Nach &amp;unten</translation>
    </message>
    <message>
        <source>Re&amp;move</source>
        <translation>&amp;Entfernen</translation>
    </message>
    <message>
        <source>&amp;Leave the Edited Entry as It Was</source>
        <translation>Bearbeiteten Eintrag unverändert &amp;lassen</translation>
    </message>
    <message>
        <source>&amp;Pause the Queue</source>
        <translation>Warteschlange &amp;anhalten</translation>
    </message>
    <message>
        <source>&amp;Group by Model</source>
        <translation>Nach &amp;Modell ordnen</translation>
    </message>
    <message>
        <source>&amp;Cancel All</source>
        <translation>Alle abbre&amp;chen</translation>
    </message>
    <message>
        <source>Clear &amp;What Waits</source>
        <translation>&amp;Wartende entfernen</translation>
    </message>
    <message>
        <source>Clear and Res&amp;tart the Fleet</source>
        <translation>Leeren und Verbund neu s&amp;tarten</translation>
    </message>
</context>
<context>
    <name>QueueState</name>
    <message>
        <source>The queue is paused. The clip at work is finished, and no other begun.</source>
        <translation>Die Warteschlange ist angehalten. Der laufende Clip wird fertig, und kein weiterer beginnt.</translation>
    </message>
    <message>
        <source>Podium ended unexpectedly last time. Nothing of the queue is lost, and a clip that was being made is in front again. Resume the queue to go on.</source>
        <translation>Podium endete letztes Mal unerwartet. Aus der Warteschlange ging nichts verloren, und ein Clip, der gerade entstand, steht wieder vorn. Setzen Sie die Warteschlange fort, um weiterzumachen.</translation>
    </message>
    <message>
        <source>These clips were left over when Podium was closed. Resume the queue to make them.</source>
        <translation>Diese Clips blieben übrig, als Podium geschlossen wurde. Setzen Sie die Warteschlange fort, um sie zu erzeugen.</translation>
    </message>
</context>
<context>
    <name>QueueView</name>
    <message>
        <source>Queue</source>
        <translation>Warteschlange</translation>
    </message>
    <message>
        <source>More for the queue</source>
        <translation>Mehr zur Warteschlange</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>The clip at work ends at its next step, and all that wait are taken out.</source>
        <translation>Der laufende Clip endet beim nächsten Schritt, und alle wartenden werden entfernt.</translation>
    </message>
    <message>
        <source>Cancel all clips?</source>
        <translation>Alle Clips abbrechen?</translation>
    </message>
    <message>
        <source>Cancel All</source>
        <translation>Alle abbrechen</translation>
    </message>
    <message>
        <source>All but the clip at work are taken out.</source>
        <translation>Alle außer dem laufenden Clip werden entfernt.</translation>
    </message>
    <message>
        <source>Clear what waits?</source>
        <translation>Wartende entfernen?</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>The clip at work is stopped by force and all that wait are taken out. Then the devices start anew and the weights load again.</source>
        <translation>Der laufende Clip wird sofort beendet, und alle wartenden werden entfernt. Dann starten die Geräte neu, und die Gewichte laden nochmals.</translation>
    </message>
    <message>
        <source>Clear the queue and restart the fleet?</source>
        <translation>Warteschlange leeren und Verbund neu starten?</translation>
    </message>
    <message>
        <source>Clear and Restart</source>
        <translation>Leeren und neu starten</translation>
    </message>
    <message>
        <source>Nothing waits. Generate puts a clip here, and more while one is being made.</source>
        <translation>Nichts wartet. „Erzeugen“ stellt einen Clip hierher, und weitere, während einer entsteht.</translation>
    </message>
    <message>
        <source>Waiting: {0}</source>
        <translation>Wartend: {0}</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Begin no further clip; the one at work goes on (Ctrl+P)</source>
        <translation>Keinen weiteren Clip beginnen; der laufende geht weiter (Strg+P)</translation>
    </message>
</context>
<context>
    <name>QueueWords</name>
    <message>
        <source>Fast</source>
        <translation>Schnell</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>Qualität</translation>
    </message>
    <message>
        <source>HQ</source>
        <translation>HQ</translation>
    </message>
    <message>
        <source>In the form</source>
        <translation>Im Formular</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Übersprungen</translation>
    </message>
    <message>
        <source>At work</source>
        <translation>Arbeitet</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Abgebrochen</translation>
    </message>
    <message>
        <source>Refused</source>
        <translation>Abgelehnt</translation>
    </message>
    <message>
        <source> and {0} more</source>
        <translation> und {0} weitere</translation>
    </message>
    <message>
        <source>seed {0}</source>
        <translation>Seed {0}</translation>
    </message>
    <message>
        <source>Needs another fleet</source>
        <translation>Braucht einen anderen Verbund</translation>
    </message>
    <message>
        <source>Needs another fleet (about {0})</source>
        <translation>Braucht einen anderen Verbund (etwa {0})</translation>
    </message>
    <message>
        <source>Rank {0}</source>
        <translation>Rang {0}</translation>
    </message>
</context>
<context>
    <name>RankLine</name>
    <message>
        <source>Its last sign of life</source>
        <translation>Letztes Lebenszeichen</translation>
    </message>
    <message>
        <source>Progress of the phase</source>
        <translation>Fortschritt der Phase</translation>
    </message>
    <message>
        <source>Rank {0}</source>
        <translation>Rang {0}</translation>
    </message>
    <message>
        <source>{0} s ago</source>
        <translation>vor {0} s</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{0} von {1}</translation>
    </message>
    <message>
        <source>step {0} of {1}</source>
        <translation>Schritt {0} von {1}</translation>
    </message>
</context>
<context>
    <name>ReuseDialog</name>
    <message>
        <source>Reuse</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alles</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Nichts</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>{0} fps</source>
        <translation>{0} B/s</translation>
    </message>
    <message>
        <source>{0} frames</source>
        <translation>{0} Bilder</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Negative prompt</source>
        <translation>Negativer Prompt</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Length and rate</source>
        <translation>Länge und Bildrate</translation>
    </message>
    <message>
        <source>Pictures</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>LoRAs</source>
        <translation>LoRAs</translation>
    </message>
    <message>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>Steps and guidance</source>
        <translation>Schritte und Führung</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>key frames of the model&apos;s own: {0}</source>
        <translation>eigene Schlüsselbilder des Modells: {0}</translation>
    </message>
    <message>
        <source>scales of its own</source>
        <translation>eigene Stärken</translation>
    </message>
    <message>
        <source>distilled LoRA {0} and {1}</source>
        <translation>destilliertes LoRA {0} und {1}</translation>
    </message>
    <message>
        <source>{0} × {1} tiles</source>
        <translation>{0} × {1} Kacheln</translation>
    </message>
    <message>
        <source>passes: {0}</source>
        <translation>Durchläufe: {0}</translation>
    </message>
    <message>
        <source>The model&apos;s own</source>
        <translation>Wie im Modell</translation>
    </message>
    <message>
        <source>Steps: {0}</source>
        <translation>Schritte: {0}</translation>
    </message>
</context>
<context>
    <name>SavePresetDialog</name>
    <message>
        <source>Save as Preset</source>
        <translation>Als Voreinstellung sichern</translation>
    </message>
    <message>
        <source>Name of the preset</source>
        <translation>Name der Voreinstellung</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>The prompt</source>
        <translation>Der Prompt</translation>
    </message>
    <message>
        <source>The seed</source>
        <translation>Der Seed</translation>
    </message>
    <message>
        <source>The pictures</source>
        <translation>Die Bilder</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Sichern</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>It holds pipeline, negative prompt, format, guidance and LoRAs. Keep with it:</source>
        <translation>Sie enthält Pipeline, negativen Prompt, Format, Führung und LoRAs. Außerdem behalten:</translation>
    </message>
    <message>
        <source>Write over</source>
        <translation>Überschreiben</translation>
    </message>
    <message>
        <source>There is a preset of this name; it is written over.</source>
        <translation>Es gibt eine Voreinstellung dieses Namens; sie wird überschrieben.</translation>
    </message>
</context>
<context>
    <name>SeedView</name>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Keep this seed</source>
        <translation>Diesen Seed behalten</translation>
    </message>
    <message>
        <source>Throw the dice: another seed</source>
        <translation>Würfeln: ein anderer Seed</translation>
    </message>
    <message>
        <source>The seed is kept; press to draw a new one each time</source>
        <translation>Der Seed bleibt; drücken, um jedes Mal einen neuen zu ziehen</translation>
    </message>
    <message>
        <source>A new seed for each clip; press to keep this one</source>
        <translation>Ein neuer Seed für jeden Clip; drücken, um diesen zu behalten</translation>
    </message>
</context>
<context>
    <name>Sentences</name>
    <message>
        <source> in {0}</source>
        <translation> in {0}</translation>
    </message>
    <message>
        <source> is {0}, {1} is expected</source>
        <translation> ist {0}, erwartet wird {1}</translation>
    </message>
    <message>
        <source> on the CPU, each with weights of its own</source>
        <translation> auf der CPU, jeder mit eigenen Gewichten</translation>
    </message>
    <message>
        <source>, only pickled ones, which can run any program when they are opened</source>
        <translation>, nur als Pickle-Dateien, die beim Öffnen beliebige Programme ausführen können</translation>
    </message>
    <message>
        <source>, step {0} of {1}</source>
        <translation>, Schritt {0} von {1}</translation>
    </message>
    <message>
        <source>: probably out of memory</source>
        <translation>: wahrscheinlich reichte der Speicher nicht</translation>
    </message>
    <message>
        <source>A CRF of {0} for {1} cannot be used. It must lie from 0 (not re-compressed) to {2}.</source>
        <translation>Ein CRF von {0} für {1} ist nicht möglich. Er muss zwischen 0 (nicht neu komprimiert) und {2} liegen.</translation>
    </message>
    <message>
        <source>A GPU is blocked: process {0} does not let go of {1}. Start on the other GPUs, or restart the machine.</source>
        <translation>Eine GPU ist blockiert: Prozess {0} gibt {1} nicht frei. Starten Sie auf den anderen GPUs, oder starten Sie den Rechner neu.</translation>
    </message>
    <message>
        <source>A LoRA file was replaced while the devices read it. Try again when the new file is whole.</source>
        <translation>Eine LoRA-Datei wurde ersetzt, während die Geräte sie lasen. Versuchen Sie es erneut, wenn die neue Datei vollständig ist.</translation>
    </message>
    <message>
        <source>A PNG, JPEG, WebP, AVIF or TIFF file would do.</source>
        <translation>Geeignet ist eine Datei in PNG, JPEG, WebP, AVIF oder TIFF.</translation>
    </message>
    <message>
        <source>A clip of {0} frames cannot be made. The count must be 8 times a whole number, plus 1: {1} would do.</source>
        <translation>Ein Clip von {0} Bildern ist nicht möglich. Die Zahl muss ein Vielfaches von 8 sein, plus 1: möglich wäre {1}.</translation>
    </message>
    <message>
        <source>A clip of {0} × {1} pixels cannot be written. No side may exceed {2} pixels.</source>
        <translation>Ein Clip von {0} × {1} Pixeln lässt sich nicht schreiben. Keine Seite darf länger als {2} Pixel sein.</translation>
    </message>
    <message>
        <source>A frame rate of {0} cannot be kept exactly. {1} would do.</source>
        <translation>Eine Bildrate von {0} lässt sich nicht genau einhalten. Möglich wäre {1}.</translation>
    </message>
    <message>
        <source>A frame rate of {0} cannot be made. It must lie from {1} to {2}.</source>
        <translation>Eine Bildrate von {0} ist nicht möglich. Sie muss zwischen {1} und {2} liegen.</translation>
    </message>
    <message>
        <source>A guidance scale {0} of {1} cannot be used. It must lie from -{2} to {3}; 1 to 10 are usual.</source>
        <translation>Die Führung {0} kann nicht {1} sein. Der Wert muss zwischen -{2} und {3} liegen; üblich sind 1 bis 10.</translation>
    </message>
    <message>
        <source>A picture of {0} x {1} pixels cannot be re-compressed. A smaller one, or a CRF of 0, would do.</source>
        <translation>Ein Bild von {0} x {1} Pixeln lässt sich nicht neu komprimieren. Nehmen Sie ein kleineres oder einen CRF von 0.</translation>
    </message>
    <message>
        <source>A picture of {0} x {1} pixels is too small. 2 x 2 would do.</source>
        <translation>Ein Bild von {0} x {1} Pixeln ist zu klein. 2 x 2 würden genügen.</translation>
    </message>
    <message>
        <source>A rescale of {0} cannot be used. It must lie from 0 (none) to 1 (all).</source>
        <translation>Ein Ausgleich von {0} ist nicht möglich. Er muss zwischen 0 (keiner) und 1 (voller) liegen.</translation>
    </message>
    <message>
        <source>A second stage in {0} {1} of tiles cannot be made at this size: each tile has to exceed its overlap with the next. Take 1 to {2}.</source>
        <translation>Bei dieser Größe ist eine zweite Stufe in {0} {1} von Kacheln nicht möglich: Jede Kachel muss größer sein als ihre Überlappung mit der nächsten. Nehmen Sie 1 bis {2}.</translation>
    </message>
    <message>
        <source>A second stage in {0} × {1} tiles cannot be made at {2} × {3} pixels: they would not exceed their overlap. Take fewer tiles, or a larger clip.</source>
        <translation>Eine zweite Stufe in {0} × {1} Kacheln ist bei {2} × {3} Pixeln nicht möglich: Die Kacheln wären nicht größer als ihre Überlappung. Nehmen Sie weniger Kacheln oder einen größeren Clip.</translation>
    </message>
    <message>
        <source>A seed of {0} cannot be used. It must lie from 0 to {1}.</source>
        <translation>Ein Seed von {0} ist nicht möglich. Er muss zwischen 0 und {1} liegen.</translation>
    </message>
    <message>
        <source>A skip step of {0} cannot be used. 0 guides every step, 1 every second.</source>
        <translation>Ein Auslassen von {0} Schritten ist nicht möglich. 0 führt jeden Schritt, 1 jeden zweiten.</translation>
    </message>
    <message>
        <source>A strength of {0} for {1} cannot be used. It must lie from 0 (ignored) to 1 (kept).</source>
        <translation>Eine Stärke von {0} für {1} ist nicht möglich. Sie muss zwischen 0 (ohne Wirkung) und 1 (beibehalten) liegen.</translation>
    </message>
    <message>
        <source>A {0} of {1} pixels cannot be made. It must be a multiple of {2}: {3} would do.</source>
        <translation>Eine {0} von {1} Pixeln ist nicht möglich. Sie muss ein Vielfaches von {2} sein: möglich wäre {3}.</translation>
    </message>
    <message>
        <source>All GPUs of the fleet exchange over NVLink.</source>
        <translation>Alle GPUs des Verbunds tauschen sich über NVLink aus.</translation>
    </message>
    <message>
        <source>An mp4 cannot hold a frame rate of {0} exactly. {1} would do.</source>
        <translation>Eine mp4-Datei kann eine Bildrate von {0} nicht genau angeben. Möglich wäre {1}.</translation>
    </message>
    <message>
        <source>Another Podium is using it ({0}).</source>
        <translation>Ein anderes Podium verwendet sie ({0}).</translation>
    </message>
    <message>
        <source>Another process is using it ({0}).</source>
        <translation>Ein anderer Prozess verwendet sie ({0}).</translation>
    </message>
    <message>
        <source>Applying LoRAs</source>
        <translation>LoRAs anwenden</translation>
    </message>
    <message>
        <source>Choose a .safetensors file, or the folder with a text encoder&apos;s config.json.</source>
        <translation>Wählen Sie eine .safetensors-Datei oder den Ordner mit der config.json eines Text-Encoders.</translation>
    </message>
    <message>
        <source>Choose the bf16 or the fp8 checkpoint as Lightricks published it.</source>
        <translation>Wählen Sie den Checkpoint in bf16 oder fp8, wie Lightricks ihn veröffentlicht hat.</translation>
    </message>
    <message>
        <source>Choose the bf16 upscaler.</source>
        <translation>Wählen Sie den Upscaler in bf16.</translation>
    </message>
    <message>
        <source>Choose the bf16 {0}.</source>
        <translation>Wählen Sie diese Datei in bf16: {0}.</translation>
    </message>
    <message>
        <source>Choose the text encoder in bf16.</source>
        <translation>Wählen Sie den Text-Encoder in bf16.</translation>
    </message>
    <message>
        <source>Close other programs, or use a machine with more memory.</source>
        <translation>Schließen Sie andere Programme, oder nehmen Sie einen Rechner mit mehr Arbeitsspeicher.</translation>
    </message>
    <message>
        <source>ComfyUI&apos;s older fp8</source>
        <translation>älteres fp8 von ComfyUI</translation>
    </message>
    <message>
        <source>ComfyUI&apos;s quantisation</source>
        <translation>Quantisierung von ComfyUI</translation>
    </message>
    <message>
        <source>Compiling</source>
        <translation>Kompilieren</translation>
    </message>
    <message>
        <source>DNxHR holds no picture of {0} × {1}: it takes {2} pixels and more. ProRes would do.</source>
        <translation>DNxHR fasst kein Bild von {0} × {1}: Es braucht mindestens {2} Pixel. Nehmen Sie ProRes.</translation>
    </message>
    <message>
        <source>Decoding</source>
        <translation>Decodieren</translation>
    </message>
    <message>
        <source>Enlarging</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>Schnell</translation>
    </message>
    <message>
        <source>Fast always takes 8 and 3 steps, so it has no use for a number of steps. {0}</source>
        <translation>„Schnell“ macht immer 8 und 3 Schritte und kann mit einer Schrittzahl nichts anfangen. {0}</translation>
    </message>
    <message>
        <source>Fast is not guided, so it has no use for a negative prompt. {0}</source>
        <translation>„Schnell“ ist nicht geführt und kann mit einem negativen Prompt nichts anfangen. {0}</translation>
    </message>
    <message>
        <source>Fast is not guided, so it has no use for a way to run guidance. {0}</source>
        <translation>„Schnell“ ist nicht geführt und kann mit einer Art, die Führung zu rechnen, nichts anfangen. {0}</translation>
    </message>
    <message>
        <source>Fast is not guided, so it has no use for scales of guidance. {0}</source>
        <translation>„Schnell“ ist nicht geführt und kann mit Werten für die Führung nichts anfangen. {0}</translation>
    </message>
    <message>
        <source>Fast makes its second stage of the whole picture, so it has no use for tiles. Leave them out, or take Quality or HQ.</source>
        <translation>„Schnell“ rechnet die zweite Stufe am ganzen Bild und kann mit Kacheln nichts anfangen. Lassen Sie sie weg, oder nehmen Sie „Qualität“ oder „HQ“.</translation>
    </message>
    <message>
        <source>Fast runs a checkpoint that is distilled already, so it has no use for strengths of the distilled LoRA. {0}</source>
        <translation>„Schnell“ arbeitet mit einem schon destillierten Checkpoint und kann mit Stärken des destillierten LoRAs nichts anfangen. {0}</translation>
    </message>
    <message>
        <source>GGUF</source>
        <translation>GGUF</translation>
    </message>
    <message>
        <source>GPU {0}</source>
        <translation>GPU {0}</translation>
    </message>
    <message>
        <source>GPU {0} ({1})</source>
        <translation>GPU {0} ({1})</translation>
    </message>
    <message>
        <source>GPU {0} and GPU {1}</source>
        <translation>GPU {0} und GPU {1}</translation>
    </message>
    <message>
        <source>GPU {0} was asked for, but there are {1} here, counted from 0. Choose from 0 to {2}.</source>
        <translation>GPU {0} wurde verlangt, hier gibt es aber {1}, gezählt ab 0. Wählen Sie von 0 bis {2}.</translation>
    </message>
    <message>
        <source>Gemma 3</source>
        <translation>Gemma 3</translation>
    </message>
    <message>
        <source>Gemma {0}</source>
        <translation>Gemma {0}</translation>
    </message>
    <message>
        <source>Give up to {0} key frames for this clip, each at a frame of its own.</source>
        <translation>Geben Sie für diesen Clip höchstens {0} Schlüsselbilder an, jedes bei einem eigenen Bild.</translation>
    </message>
    <message>
        <source>HQ</source>
        <translation>HQ</translation>
    </message>
    <message>
        <source>In the checkpoint&apos;s place {0}</source>
        <translation>An der Stelle des Checkpoints {0}</translation>
    </message>
    <message>
        <source>In the distilled LoRA&apos;s place choose {0}</source>
        <translation>An der Stelle des destillierten LoRAs wählen Sie {0}</translation>
    </message>
    <message>
        <source>In the text encoder&apos;s place choose {0}</source>
        <translation>An der Stelle des Text-Encoders wählen Sie {0}</translation>
    </message>
    <message>
        <source>In the upscaler&apos;s place {0}</source>
        <translation>An der Stelle des Upscalers {0}</translation>
    </message>
    <message>
        <source>In the {0}&apos;s place {1}</source>
        <translation>An der Stelle „{0}“ {1}</translation>
    </message>
    <message>
        <source>It cannot compute in bfloat16, which the models need.</source>
        <translation>Sie kann nicht in bfloat16 rechnen, was die Modelle brauchen.</translation>
    </message>
    <message>
        <source>It gives no answer.</source>
        <translation>Keine Antwort.</translation>
    </message>
    <message>
        <source>It is divided into MIG parts, which cannot work together on one clip.</source>
        <translation>Sie ist in MIG-Teile aufgeteilt, die nicht gemeinsam an einem Clip arbeiten können.</translation>
    </message>
    <message>
        <source>Its driver is made for CUDA {0}, and the installed PyTorch needs {1}. Update the driver.</source>
        <translation>Ihr Treiber ist für CUDA {0} gemacht, und das installierte PyTorch braucht {1}. Aktualisieren Sie den Treiber.</translation>
    </message>
    <message>
        <source>Its folder “{0}” has: choose that one.</source>
        <translation>Einer liegt in seinem Ordner „{0}“: Wählen Sie diesen.</translation>
    </message>
    <message>
        <source>Its memory of {0} GB is too little; {1} GB is the least.</source>
        <translation>Ihr Speicher von {0} GB ist zu klein; nötig sind mindestens {1} GB.</translation>
    </message>
    <message>
        <source>Job {0} took longer than it was given. {1}</source>
        <translation>Auftrag {0} brauchte länger, als ihm zustand. {1}</translation>
    </message>
    <message>
        <source>Joining the devices</source>
        <translation>Geräte verbinden sich</translation>
    </message>
    <message>
        <source>LTX-2.3 or later</source>
        <translation>LTX-2.3 oder neuer</translation>
    </message>
    <message>
        <source>LTX-{0}</source>
        <translation>LTX-{0}</translation>
    </message>
    <message>
        <source>Leave it out, or take Quality or HQ.</source>
        <translation>Lassen Sie das weg, oder nehmen Sie „Qualität“ oder „HQ“.</translation>
    </message>
    <message>
        <source>LoRA with biases</source>
        <translation>LoRA mit Bias-Werten</translation>
    </message>
    <message>
        <source>LoRA with quantised factors</source>
        <translation>LoRA mit quantisierten Faktoren</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Modell laden</translation>
    </message>
    <message>
        <source>NVFP4</source>
        <translation>NVFP4</translation>
    </message>
    <message>
        <source>No smaller clip would fit either: take a GPU with more memory, or close what else uses this one.</source>
        <translation>Auch ein kleinerer Clip hätte keinen Platz: Nehmen Sie eine GPU mit mehr Speicher, oder schließen Sie, was diese sonst belegt.</translation>
    </message>
    <message>
        <source>One step is too few for HQ. Take two or more; 15 are usual.</source>
        <translation>Ein Schritt ist für „HQ“ zu wenig. Nehmen Sie zwei oder mehr; üblich sind 15.</translation>
    </message>
    <message>
        <source>One step is too few for this pipeline. Take two or more; 15 are usual.</source>
        <translation>Ein Schritt ist für diese Pipeline zu wenig. Nehmen Sie zwei oder mehr; üblich sind 15.</translation>
    </message>
    <message>
        <source>Only some of the ranks refused this job ({0} of {1}), or not all of them for the same reason. Rank {2} said: {3} The fleet may hang if this is repeated.</source>
        <translation>Nur einige der Ränge lehnten diesen Auftrag ab ({0} von {1}), oder nicht alle aus demselben Grund. Rang {2} meldete: {3} Bei einer Wiederholung kann der Verbund hängen bleiben.</translation>
    </message>
    <message>
        <source>Podium applies LoRAs for LTX-2 with lora_A/lora_B (or lora_down/lora_up) factors.</source>
        <translation>Podium wendet LoRAs für LTX-2 mit Faktoren lora_A/lora_B (oder lora_down/lora_up) an.</translation>
    </message>
    <message>
        <source>Podium can generate on Linux only: this system cannot run the processes that it needs.</source>
        <translation>Podium kann Clips nur unter Linux erzeugen: Dieses System kann die nötigen Prozesse nicht ausführen.</translation>
    </message>
    <message>
        <source>Podium failed on a fault of its own ({0}). The details tell where.</source>
        <translation>Podium scheiterte an einem eigenen Fehler ({0}). Die Einzelheiten sagen, wo.</translation>
    </message>
    <message>
        <source>Podium may not write there. Make the folder writable.</source>
        <translation>Podium darf dort nicht schreiben. Machen Sie den Ordner beschreibbar.</translation>
    </message>
    <message>
        <source>Podium&apos;s helper process ended twice over the same question. Restarting Podium may help.</source>
        <translation>Der Hilfsprozess von Podium endete zweimal an derselben Frage. Ein Neustart von Podium kann helfen.</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>Qualität</translation>
    </message>
    <message>
        <source>Quanto</source>
        <translation>Quanto</translation>
    </message>
    <message>
        <source>Queue and history cannot be kept in “{0}”: {1} They hold until the window is closed.</source>
        <translation>Warteschlange und Verlauf lassen sich nicht in „{0}“ aufbewahren: {1} Sie bleiben erhalten, bis das Fenster geschlossen wird.</translation>
    </message>
    <message>
        <source>Rank {0} ({1}) failed while it was {2}: {3}: {4}</source>
        <translation>Rang {0} ({1}) scheiterte (zuletzt: {2}): {3}: {4}</translation>
    </message>
    <message>
        <source>Rank {0} ({1}) {2} the job while other ranks went on with it and waited for this one{3}</source>
        <translation>Rang {0} ({1}) {2}, während andere Ränge am Auftrag weiterarbeiteten und auf diesen warteten{3}</translation>
    </message>
    <message>
        <source>Rank {0} ({1}) {2} while it was {3}{4}.</source>
        <translation>Rang {0} ({1}) {2} (zuletzt: {3}){4}.</translation>
    </message>
    <message>
        <source>Rank {0} was to use the GPU {1}, but {2} is the GPU {3} there. Remove CUDA_DEVICE_ORDER and CUDA_VISIBLE_DEVICES from the environment, and choose the GPUs by number.</source>
        <translation>Rang {0} sollte die GPU {1} verwenden, doch {2} ist dort die GPU {3}. Entfernen Sie CUDA_DEVICE_ORDER und CUDA_VISIBLE_DEVICES aus der Umgebung, und wählen Sie die GPUs nach ihrer Nummer.</translation>
    </message>
    <message>
        <source>Reading the prompt</source>
        <translation>Prompt lesen</translation>
    </message>
    <message>
        <source>Several pictures stand at the same frame. Each frame can be given one.</source>
        <translation>Mehrere Bilder stehen an derselben Stelle des Clips. Jede Stelle kann eines haben.</translation>
    </message>
    <message>
        <source>Stage 1</source>
        <translation>Stufe 1</translation>
    </message>
    <message>
        <source>Stage 2</source>
        <translation>Stufe 2</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Steps that spread one forward over such GPUs will be slower; guidance is dealt out instead.</source>
        <translation>Schritte, die einen Durchlauf über solche GPUs verteilen, sind langsamer; stattdessen wird die Führung auf sie aufgeteilt.</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>The GPUs have no room for the whole model, and what has to wait in this machine&apos;s memory needs {0} there, of which {1} are free.</source>
        <translation>Auf den GPUs ist kein Platz für das ganze Modell, und was im Arbeitsspeicher dieses Rechners warten muss, braucht dort {0}; frei sind {1}.</translation>
    </message>
    <message>
        <source>The LoRAs cannot be applied: one of the devices lacks the {0} GB of memory that this takes for a moment. Close other programs that use it, or use fewer LoRAs at a time.</source>
        <translation>Die LoRAs lassen sich nicht anwenden: Einem der Geräte fehlen die {0} GB Speicher, die dafür kurz nötig sind. Schließen Sie andere Programme darauf, oder nehmen Sie weniger LoRAs auf einmal.</translation>
    </message>
    <message>
        <source>The checkpoint uses a kind of position encoding that no released LTX-2 model has.</source>
        <translation>Der Checkpoint verwendet eine Positionskodierung, die kein veröffentlichtes LTX-2-Modell hat.</translation>
    </message>
    <message>
        <source>The checkpoint&apos;s configuration does not describe an LTX-2 transformer.</source>
        <translation>Die Konfiguration des Checkpoints beschreibt keinen Transformer von LTX-2.</translation>
    </message>
    <message>
        <source>The clip is damaged: {0} of its {1} pictures could be read. Nothing was written.</source>
        <translation>Der Clip ist beschädigt: {0} seiner {1} Bilder waren lesbar. Es wurde nichts geschrieben.</translation>
    </message>
    <message>
        <source>The demo model cannot be unpacked into “{0}”. It needs a folder you may write to, with 60 MB free.</source>
        <translation>Das Demomodell lässt sich nicht in „{0}“ entpacken. Es braucht einen beschreibbaren Ordner mit 60 MB freiem Platz.</translation>
    </message>
    <message>
        <source>The description of the networks inside “{0}” is not that of an LTX-2 model.</source>
        <translation>Die Beschreibung der Netze in „{0}“ ist nicht die eines LTX-2-Modells.</translation>
    </message>
    <message>
        <source>The export was cancelled. Nothing was written.</source>
        <translation>Der Export wurde abgebrochen. Es wurde nichts geschrieben.</translation>
    </message>
    <message>
        <source>The exported movie did not read back as it was written, so it was not kept. Check the drive.</source>
        <translation>Der exportierte Film ließ sich nicht so lesen, wie er geschrieben wurde, und wurde daher verworfen. Prüfen Sie das Laufwerk.</translation>
    </message>
    <message>
        <source>The file with queue and history was damaged. It is kept as “{0}” in “{1}”, and new ones were begun; the clips themselves lie where they lay.</source>
        <translation>Die Datei mit Warteschlange und Verlauf war beschädigt. Sie wird als „{0}“ in „{1}“ aufgehoben, und beide wurden neu begonnen; die Clips selbst liegen, wo sie lagen.</translation>
    </message>
    <message>
        <source>The finished clip did not read back as it was written, so it was not kept. Check the drive.</source>
        <translation>Der fertige Clip ließ sich nicht so lesen, wie er geschrieben wurde, und wurde daher verworfen. Prüfen Sie das Laufwerk.</translation>
    </message>
    <message>
        <source>The fleet could not be run.</source>
        <translation>Der Verbund konnte nicht betrieben werden.</translation>
    </message>
    <message>
        <source>The fleet is gone: {0}</source>
        <translation>Der Verbund ist nicht mehr da: {0}</translation>
    </message>
    <message>
        <source>The fleet was not ready after {0} seconds. {1}</source>
        <translation>Der Verbund war nach {0} Sekunden nicht bereit. {1}</translation>
    </message>
    <message>
        <source>The fleet was not started yet.</source>
        <translation>Der Verbund wurde noch nicht gestartet.</translation>
    </message>
    <message>
        <source>The fleet was stopped.</source>
        <translation>Der Verbund wurde beendet.</translation>
    </message>
    <message>
        <source>The folder as Google published it is needed: {0}, {1} and all of its .safetensors files.</source>
        <translation>Gebraucht wird der Ordner, wie Google ihn veröffentlicht hat: {0}, {1} und alle seine .safetensors-Dateien.</translation>
    </message>
    <message>
        <source>The folder for clips, “{0}”, cannot be made. Choose another one.</source>
        <translation>Der Ordner für Clips, „{0}“, lässt sich nicht anlegen. Wählen Sie einen anderen.</translation>
    </message>
    <message>
        <source>The folder with config.json, tokenizer.json and all *.safetensors files is needed.</source>
        <translation>Gebraucht wird der Ordner mit config.json, tokenizer.json und allen *.safetensors-Dateien.</translation>
    </message>
    <message>
        <source>The folder “{0}” has no text encoder in it. {1}</source>
        <translation>Im Ordner „{0}“ liegt kein Text-Encoder. {1}</translation>
    </message>
    <message>
        <source>The forwards of a step can be spread over two devices or more, and the clip is made on one. Have them run as one batch or one after another, or choose more devices.</source>
        <translation>Die Durchläufe eines Schritts lassen sich auf zwei oder mehr Geräte verteilen, und der Clip entsteht auf einem. Lassen Sie sie gemeinsam oder nacheinander rechnen, oder wählen Sie mehr Geräte.</translation>
    </message>
    <message>
        <source>The installed PyTorch has no code for its architecture ({0}).</source>
        <translation>Das installierte PyTorch hat keinen Code für ihre Architektur ({0}).</translation>
    </message>
    <message>
        <source>The installed PyTorch was built without CUDA. Install a build with CUDA.</source>
        <translation>Das installierte PyTorch wurde ohne CUDA gebaut. Installieren Sie eines mit CUDA.</translation>
    </message>
    <message>
        <source>The job was cancelled.</source>
        <translation>Der Auftrag wurde abgebrochen.</translation>
    </message>
    <message>
        <source>The job was refused, for a reason that could not be read here.</source>
        <translation>Der Auftrag wurde abgelehnt, aus einem Grund, der hier nicht lesbar war.</translation>
    </message>
    <message>
        <source>The language model wrote nothing. Try another seed, or other words.</source>
        <translation>Das Sprachmodell schrieb nichts. Versuchen Sie es mit einem anderen Seed oder anderen Worten.</translation>
    </message>
    <message>
        <source>The last job has not been read to its end: iterate its stream to the end, or drain it.</source>
        <translation>Der letzte Auftrag wurde nicht zu Ende gelesen: Lesen Sie seinen Strom bis zum Ende, oder verwerfen Sie den Rest.</translation>
    </message>
    <message>
        <source>The list of files “{0}” in “{1}” is damaged.</source>
        <translation>Die Dateiliste „{0}“ in „{1}“ ist beschädigt.</translation>
    </message>
    <message>
        <source>The parameters in “{0}” cannot be read. Another Podium may have written them.</source>
        <translation>Die Einstellungen in „{0}“ sind nicht lesbar. Vielleicht hat eine andere Version von Podium sie geschrieben.</translation>
    </message>
    <message>
        <source>The picture was not looked at, since this text encoder reads words only.</source>
        <translation>Das Bild wurde nicht angesehen, da dieser Text-Encoder nur Worte liest.</translation>
    </message>
    <message>
        <source>The picture “{0}” in “{1}” may not be read. Change its permissions or choose another.</source>
        <translation>Das Bild „{0}“ in „{1}“ darf nicht gelesen werden. Ändern Sie seine Rechte, oder wählen Sie ein anderes.</translation>
    </message>
    <message>
        <source>The picture “{0}” is not in “{1}”. Choose one that is there.</source>
        <translation>Das Bild „{0}“ liegt nicht in „{1}“. Wählen Sie eines, das da ist.</translation>
    </message>
    <message>
        <source>The pictures hold values that are no numbers, so the clip was not written. A LoRA&apos;s strength or the type to compute in may be the reason: try without LoRAs first.</source>
        <translation>Die Bilder enthalten Werte, die keine Zahlen sind; daher wurde der Clip nicht geschrieben. Der Grund kann die Stärke eines LoRAs sein oder die Genauigkeit der Rechnung: Versuchen Sie es zuerst ohne LoRAs.</translation>
    </message>
    <message>
        <source>The pictures that queue and history refer to cannot be told, since a part of them is damaged.</source>
        <translation>Welche Bilder zu Warteschlange und Verlauf gehören, lässt sich nicht sagen, da ein Teil davon beschädigt ist.</translation>
    </message>
    <message>
        <source>The process that starts and watches the ranks has died. Start the fleet again.</source>
        <translation>Der Prozess, der die Ränge startet und überwacht, ist ausgefallen. Starten Sie den Verbund erneut.</translation>
    </message>
    <message>
        <source>The process that starts the ranks has died, or does not answer. Start the fleet again.</source>
        <translation>Der Prozess, der die Ränge startet, ist ausgefallen oder antwortet nicht. Starten Sie den Verbund erneut.</translation>
    </message>
    <message>
        <source>The prompt is empty. Write what the clip shall show, and what is to be heard.</source>
        <translation>Der Prompt ist leer. Schreiben Sie, was der Clip zeigen soll und was zu hören ist.</translation>
    </message>
    <message>
        <source>The prompt is too long: it has {0} tokens, and the model reads {1}. Please shorten it.</source>
        <translation>Der Prompt ist zu lang: Er hat {0} Token, und das Modell liest {1}. Kürzen Sie ihn.</translation>
    </message>
    <message>
        <source>The settings cannot be written to “{0}”. They hold until the window is closed.</source>
        <translation>Die Einstellungen lassen sich nicht in „{0}“ schreiben. Sie gelten, bis das Fenster geschlossen wird.</translation>
    </message>
    <message>
        <source>The sound for “{0}” holds values that are no numbers. The clip was not written.</source>
        <translation>Der Ton für „{0}“ enthält Werte, die keine Zahlen sind. Der Clip wurde nicht geschrieben.</translation>
    </message>
    <message>
        <source>The strength of “{0}” cannot be used. It must lie from -{1} to {2}; 1 applies the LoRA as trained.</source>
        <translation>Die Stärke von „{0}“ ist nicht möglich. Sie muss zwischen -{1} und {2} liegen; 1 wendet das LoRA so an, wie es trainiert wurde.</translation>
    </message>
    <message>
        <source>The text encoder in one file as its publisher made it, with tokenizer and description inside, is needed.</source>
        <translation>Gebraucht wird der Text-Encoder in einer Datei, wie sein Herausgeber sie gemacht hat, mit Tokenizer und Beschreibung darin.</translation>
    </message>
    <message>
        <source>The text encoder needs {0} GB of device memory, and {1} to spare. Close what else uses the devices, or start on more of them.</source>
        <translation>Der Text-Encoder braucht {0} GB Gerätespeicher, und frei sind: {1}. Schließen Sie, was die Geräte sonst belegt, oder starten Sie auf mehr Geräten.</translation>
    </message>
    <message>
        <source>The text encoder “{0}” does not belong to “{1}”: it has {2}, and the checkpoint was made for another size. Choose {3}</source>
        <translation>Der Text-Encoder „{0}“ gehört nicht zu „{1}“: Er hat {2}, und der Checkpoint ist für eine andere Größe gemacht. Wählen Sie {3}</translation>
    </message>
    <message>
        <source>The text encoder “{0}” has no weights in .safetensors files{1}. {2}</source>
        <translation>Der Text-Encoder „{0}“ hat keine Gewichte in .safetensors-Dateien{1}. {2}</translation>
    </message>
    <message>
        <source>The text encoder “{0}” has no {1}. {2}</source>
        <translation>Dem Text-Encoder „{0}“ fehlt {1}. {2}</translation>
    </message>
    <message>
        <source>The text encoder “{0}” is of the version “{1}”, and “{2}” was made with “{3}”. Choose the one published with it.</source>
        <translation>Der Text-Encoder „{0}“ hat die Version „{1}“, und „{2}“ entstand mit „{3}“. Wählen Sie den, der damit veröffentlicht wurde.</translation>
    </message>
    <message>
        <source>The text encoder “{0}” lacks its file “{1}”. {2}</source>
        <translation>Dem Text-Encoder „{0}“ fehlt seine Datei „{1}“. {2}</translation>
    </message>
    <message>
        <source>The text encoder “{0}” lacks {1} of its {2} layers, layer {3} first. {4}</source>
        <translation>Dem Text-Encoder „{0}“ fehlen {1} seiner {2} Ebenen, als erste Ebene {3}. {4}</translation>
    </message>
    <message>
        <source>The text encoder “{0}” reads prompts and cannot write them. A Gemma folder as Google published it, with its chat template, can.</source>
        <translation>Der Text-Encoder „{0}“ liest Prompts und kann keine schreiben. Ein Gemma-Ordner, wie Google ihn mit seiner Chat-Vorlage veröffentlicht hat, kann es.</translation>
    </message>
    <message>
        <source>The text encoder&apos;s tokenizer cannot be read: “{0}” in “{1}” is missing or damaged.</source>
        <translation>Der Tokenizer des Text-Encoders ist nicht lesbar: „{0}“ in „{1}“ fehlt oder ist beschädigt.</translation>
    </message>
    <message>
        <source>The tokenizer in “{0}” has no beginning-of-sequence token; the text encoder as it was published is needed.</source>
        <translation>Dem Tokenizer in „{0}“ fehlt das Token für den Anfang; gebraucht wird der Text-Encoder, wie er veröffentlicht wurde.</translation>
    </message>
    <message>
        <source>The {0} holds something at its character {1} that is no text. Type that part again.</source>
        <translation>Der {0} enthält bei Zeichen {1} etwas, das kein Text ist. Tippen Sie diese Stelle neu.</translation>
    </message>
    <message>
        <source>The {0} in “{1}” is damaged, or only a pointer to it. Fetch it again.</source>
        <translation>Die {0} in „{1}“ ist beschädigt oder nur ein Verweis. Laden Sie sie erneut herunter.</translation>
    </message>
    <message>
        <source>The {0} in “{1}” {2}. A Gemma 3 or 4 is needed.</source>
        <translation>Die {0} in „{1}“ {2}. Gebraucht wird Gemma 3 oder 4.</translation>
    </message>
    <message>
        <source>The {0} is too long: it has {1} tokens, and the model reads {2} at most. About {3} % of it has to go.</source>
        <translation>Der {0} ist zu lang: Er hat {1} Token, und das Modell liest höchstens {2}. Etwa {3} % davon müssen weg.</translation>
    </message>
    <message>
        <source>There is no NVIDIA GPU that Podium can use on this machine. Ask for CPU ranks instead (cpu_ranks=2).</source>
        <translation>Auf diesem Rechner gibt es keine NVIDIA-GPU, die Podium verwenden kann. Nehmen Sie stattdessen Ränge auf der CPU (cpu_ranks=2).</translation>
    </message>
    <message>
        <source>There is no file “{0}”. Choose a file that ends in .safetensors.</source>
        <translation>Die Datei „{0}“ gibt es nicht. Wählen Sie eine Datei, die auf .safetensors endet.</translation>
    </message>
    <message>
        <source>There is no prompt to write out. Type a few words first.</source>
        <translation>Es gibt keinen Prompt zum Ausarbeiten. Schreiben Sie zuerst ein paar Worte.</translation>
    </message>
    <message>
        <source>There is no {0} “{1}”. Choose {2}.</source>
        <translation>Nicht gefunden: {0} „{1}“. Wählen Sie {2}.</translation>
    </message>
    <message>
        <source>There is not enough memory to read “{0}”: it takes {1} GB. Close other programs, or use a smaller LoRA.</source>
        <translation>Der Arbeitsspeicher reicht nicht, um „{0}“ zu lesen: Nötig sind {1} GB. Schließen Sie andere Programme, oder nehmen Sie ein kleineres LoRA.</translation>
    </message>
    <message>
        <source>This clip has no frame {0}. Its {1} frames are numbered from 0 to {2}.</source>
        <translation>Dieser Clip hat kein Bild {0}. Seine {1} Bilder sind von 0 bis {2} nummeriert.</translation>
    </message>
    <message>
        <source>This clip is too large for HQ: its first stage has {0} video tokens, and beyond about 35,000 the noise levels of its steps cannot be told apart. Make it smaller or shorter, or take Quality.</source>
        <translation>Dieser Clip ist für „HQ“ zu groß: Seine erste Stufe hat {0} Video-Token, und jenseits von etwa 35.000 sind die Rauschpegel der Schritte nicht mehr zu unterscheiden. Machen Sie ihn kleiner oder kürzer, oder nehmen Sie „Qualität“.</translation>
    </message>
    <message>
        <source>This clip is too large for this pipeline: its first stage has {0} video tokens, and beyond about 35,000 the noise levels of its steps cannot be told apart. Make it smaller or shorter, or take Quality.</source>
        <translation>Dieser Clip ist für diese Pipeline zu groß: Seine erste Stufe hat {0} Video-Token, und jenseits von etwa 35.000 sind die Rauschpegel der Schritte nicht mehr zu unterscheiden. Machen Sie ihn kleiner oder kürzer, oder nehmen Sie „Qualität“.</translation>
    </message>
    <message>
        <source>This clip is too large: it makes {0} tokens, and {1} are the most that a fleet is started for. Choose a smaller size or fewer frames: about {2} % of its pixels have to go.</source>
        <translation>Dieser Clip ist zu groß: Er ergibt {0} Token, und ein Verbund wird für höchstens {1} gestartet. Wählen Sie eine kleinere Größe oder weniger Bilder: Etwa {2} % der Pixel müssen weg.</translation>
    </message>
    <message>
        <source>This clip is too long to be decoded in {0} tiles in time: a tile would have {1} frames, and {2} are the most that a device decodes at once. Tiles in space between the devices have no such limit.</source>
        <translation>Dieser Clip ist zu lang, um in {0} Zeitabschnitten decodiert zu werden: Ein Abschnitt hätte {1} Bilder, und ein Gerät decodiert höchstens {2} auf einmal. Bildkacheln zwischen den Geräten haben diese Grenze nicht.</translation>
    </message>
    <message>
        <source>This clip needs {0} of this machine&apos;s memory, and {1} are free.</source>
        <translation>Dieser Clip braucht {0} vom Arbeitsspeicher dieses Rechners, und {1} sind frei.</translation>
    </message>
    <message>
        <source>This clip needs {0} on {1} ({2}), and {3} are free there.</source>
        <translation>Dieser Clip braucht {0} auf {1} ({2}), und {3} sind dort frei.</translation>
    </message>
    <message>
        <source>This fleet was started for the pipeline “{0}”, and the clip is for “{1}”. Start a fleet for that one.</source>
        <translation>Dieser Verbund wurde für die Pipeline „{0}“ gestartet, und der Clip ist für „{1}“. Starten Sie einen Verbund dafür.</translation>
    </message>
    <message>
        <source>This machine&apos;s memory does not hold {0} {1}{2}: {3} {4} in {5}, and {6} are free. {7}</source>
        <translation>Der Arbeitsspeicher dieses Rechners reicht nicht für {0} {1}{2}: {3} {4} in {5}, und {6} sind frei. {7}</translation>
    </message>
    <message>
        <source>This model can be spread over at most {0} devices, and {1} were chosen. Choose {2} or fewer.</source>
        <translation>Dieses Modell lässt sich auf höchstens {0} Geräte verteilen, und {1} sind gewählt. Wählen Sie {2} oder weniger.</translation>
    </message>
    <message>
        <source>This model has no block {0} to perturb. Its blocks are numbered from 0 to {1}.</source>
        <translation>Dieses Modell hat keinen Block {0}, der sich stören ließe. Seine Blöcke sind von 0 bis {1} nummeriert.</translation>
    </message>
    <message>
        <source>This model makes no key frames of its own: LTX-{0} has not learned it. Take a model of LTX-2.5, or ask for none.</source>
        <translation>Dieses Modell macht keine eigenen Schlüsselbilder: LTX-{0} hat es nicht gelernt. Nehmen Sie ein Modell von LTX-2.5, oder verlangen Sie keine.</translation>
    </message>
    <message>
        <source>This pipeline refines its clips with the model&apos;s distilled LoRA, and none was chosen. Choose the one of the same generation.</source>
        <translation>Diese Pipeline verfeinert ihre Clips mit dem destillierten LoRA des Modells, und keines ist gewählt. Wählen Sie das derselben Generation.</translation>
    </message>
    <message>
        <source>This text encoder reads prompts and cannot write them.</source>
        <translation>Dieser Text-Encoder liest Prompts und kann keine schreiben.</translation>
    </message>
    <message>
        <source>Tucker LoRA</source>
        <translation>Tucker-LoRA</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>What would fit: {0}.</source>
        <translation>Platz hätten: {0}.</translation>
    </message>
    <message>
        <source>With these scales nothing is guided: each step takes one forward, and there is nothing to batch or to spread. Leave the way to run guidance to Podium, or raise a scale.</source>
        <translation>Mit diesen Werten wird nichts geführt: Jeder Schritt braucht nur einen Durchlauf, und es gibt nichts zu bündeln oder zu verteilen. Überlassen Sie Podium, wie die Führung gerechnet wird, oder erhöhen Sie einen Wert.</translation>
    </message>
    <message>
        <source>Writing the file</source>
        <translation>Datei schreiben</translation>
    </message>
    <message>
        <source>a</source>
        <translation>ein Adapter vom Typ</translation>
    </message>
    <message>
        <source>a LoRA</source>
        <translation>ein LoRA</translation>
    </message>
    <message>
        <source>a checkpoint</source>
        <translation>ein Checkpoint</translation>
    </message>
    <message>
        <source>a latent upscaler</source>
        <translation>ein Upscaler für Latents</translation>
    </message>
    <message>
        <source>a model&apos;s {0}</source>
        <translation>nur ein Teil eines Modells ({0})</translation>
    </message>
    <message>
        <source>a quantisation that Podium does not know</source>
        <translation>eine Quantisierung, die Podium nicht kennt</translation>
    </message>
    <message>
        <source>a single file of a text encoder</source>
        <translation>eine einzelne Datei eines Text-Encoders</translation>
    </message>
    <message>
        <source>a single number</source>
        <translation>eine einzelne Zahl</translation>
    </message>
    <message>
        <source>a text encoder</source>
        <translation>ein Text-Encoder</translation>
    </message>
    <message>
        <source>alive</source>
        <translation>läuft</translation>
    </message>
    <message>
        <source>an</source>
        <translation>ein Adapter vom Typ</translation>
    </message>
    <message>
        <source>an MLX conversion for Apple machines</source>
        <translation>eine MLX-Umwandlung für Rechner von Apple</translation>
    </message>
    <message>
        <source>an encoder of its own</source>
        <translation>einen eigenen Encoder</translation>
    </message>
    <message>
        <source>an error</source>
        <translation>ein Fehler</translation>
    </message>
    <message>
        <source>and {0} more</source>
        <translation>und {0} weitere</translation>
    </message>
    <message>
        <source>another program holds the file. Close that program.</source>
        <translation>Ein anderes Programm hält die Datei. Schließen Sie dieses Programm.</translation>
    </message>
    <message>
        <source>audio VAE</source>
        <translation>Audio-VAE</translation>
    </message>
    <message>
        <source>audio decoder</source>
        <translation>Audio-Decoder</translation>
    </message>
    <message>
        <source>audio encoder</source>
        <translation>Audio-Encoder</translation>
    </message>
    <message>
        <source>by a factor it does not tell</source>
        <translation>um einen Faktor, den die Datei nicht nennt</translation>
    </message>
    <message>
        <source>by {0}</source>
        <translation>um das {0}-fache</translation>
    </message>
    <message>
        <source>cannot be read</source>
        <translation>ist nicht lesbar</translation>
    </message>
    <message>
        <source>cfg</source>
        <translation>CFG</translation>
    </message>
    <message>
        <source>choose a checkpoint of LTX-2 in one .safetensors file, or the transformer and all other files of its model.</source>
        <translation>wählen Sie einen Checkpoint von LTX-2 in einer .safetensors-Datei, oder den Transformer und alle anderen Dateien seines Modells.</translation>
    </message>
    <message>
        <source>choose a spatial upscaler of LTX-2, x2 or x1.5.</source>
        <translation>wählen Sie einen räumlichen Upscaler von LTX-2, x2 oder x1.5.</translation>
    </message>
    <message>
        <source>choose the audio VAE of LTX-2.5, which has the vocoder in it.</source>
        <translation>wählen Sie den Audio-VAE von LTX-2.5, der den Vocoder enthält.</translation>
    </message>
    <message>
        <source>choose the duration head of LTX-2.5, or none.</source>
        <translation>wählen Sie den Längenschätzer von LTX-2.5, oder keinen.</translation>
    </message>
    <message>
        <source>choose the video VAE of LTX-2.5, with the convolutional decoder or the diffusion decoder.</source>
        <translation>wählen Sie den Video-VAE von LTX-2.5, mit Faltungs- oder Diffusions-Decoder.</translation>
    </message>
    <message>
        <source>columns</source>
        <translation>Spalten</translation>
    </message>
    <message>
        <source>compiling</source>
        <translation>Kompilieren</translation>
    </message>
    <message>
        <source>connectors</source>
        <translation>Konnektoren</translation>
    </message>
    <message>
        <source>dead</source>
        <translation>beendet</translation>
    </message>
    <message>
        <source>decoding</source>
        <translation>Decodieren</translation>
    </message>
    <message>
        <source>describes a model of the type “{0}”</source>
        <translation>beschreibt ein Modell vom Typ „{0}“</translation>
    </message>
    <message>
        <source>duration head</source>
        <translation>Längenschätzer</translation>
    </message>
    <message>
        <source>encoding</source>
        <translation>Lesen des Prompts</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>endete</translation>
    </message>
    <message>
        <source>exited with code {0}, which nobody asked of it,</source>
        <translation>endete ungebeten mit dem Code {0}</translation>
    </message>
    <message>
        <source>factors {0} and {1} do not multiply</source>
        <translation>die Faktoren {0} und {1} passen nicht zueinander</translation>
    </message>
    <message>
        <source>file</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>fp8 with scales</source>
        <translation>fp8 mit Skalen</translation>
    </message>
    <message>
        <source>fp8 without scales</source>
        <translation>fp8 ohne Skalen</translation>
    </message>
    <message>
        <source>full difference</source>
        <translation>volle Differenz</translation>
    </message>
    <message>
        <source>full precision</source>
        <translation>volle Genauigkeit</translation>
    </message>
    <message>
        <source>height</source>
        <translation>Höhe</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>in stage 1</source>
        <translation>Stufe 1</translation>
    </message>
    <message>
        <source>in stage 2</source>
        <translation>Stufe 2</translation>
    </message>
    <message>
        <source>in the layout of diffusers</source>
        <translation>für diffusers umgebaut</translation>
    </message>
    <message>
        <source>in the text connectors, which Podium leaves as they are</source>
        <translation>in den Text-Konnektoren, die Podium unverändert lässt</translation>
    </message>
    <message>
        <source>it is read-only. Make the folder writable.</source>
        <translation>Die Datei ist schreibgeschützt. Machen Sie den Ordner beschreibbar.</translation>
    </message>
    <message>
        <source>it needs</source>
        <translation>er braucht</translation>
    </message>
    <message>
        <source>layers it does not tell</source>
        <translation>Ebenen, die er nicht nennt</translation>
    </message>
    <message>
        <source>loading</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>looking for the other ranks</source>
        <translation>Suche nach den anderen Rängen</translation>
    </message>
    <message>
        <source>lost its connection to Podium</source>
        <translation>verlor die Verbindung zu Podium</translation>
    </message>
    <message>
        <source>made as {0}, which Podium cannot apply</source>
        <translation>vom Typ {0}, den Podium nicht anwenden kann</translation>
    </message>
    <message>
        <source>made for {0}, the model&apos;s weight is {1}</source>
        <translation>gemacht für {0}, das Gewicht des Modells ist {1}</translation>
    </message>
    <message>
        <source>missing: {0}</source>
        <translation>es fehlt: {0}</translation>
    </message>
    <message>
        <source>unexpected: {0}</source>
        <translation>unerwartet: {0}</translation>
    </message>
    <message>
        <source>wrong shape: {0}</source>
        <translation>falsche Form: {0}</translation>
    </message>
    <message>
        <source>modality</source>
        <translation>Modalität</translation>
    </message>
    <message>
        <source>named twice</source>
        <translation>doppelt genannt</translation>
    </message>
    <message>
        <source>negative prompt</source>
        <translation>negative Prompt</translation>
    </message>
    <message>
        <source>no LTX-2 model: it has no audio stream. It may be an older LTX-Video or another model</source>
        <translation>kein LTX-2-Modell: Der Teil für den Ton fehlt. Es kann ein älteres LTX-Video oder ein anderes Modell sein</translation>
    </message>
    <message>
        <source>no file can be made there. Make the folder writable.</source>
        <translation>Dort lässt sich keine Datei anlegen. Machen Sie den Ordner beschreibbar.</translation>
    </message>
    <message>
        <source>no part of an LTX-2 model</source>
        <translation>kein Teil eines LTX-2-Modells</translation>
    </message>
    <message>
        <source>not responding</source>
        <translation>reagiert nicht</translation>
    </message>
    <message>
        <source>of a shape that does not fit</source>
        <translation>in einer Form, die nicht passt</translation>
    </message>
    <message>
        <source>other algorithm</source>
        <translation>anderes Verfahren</translation>
    </message>
    <message>
        <source>process</source>
        <translation>Prozess</translation>
    </message>
    <message>
        <source>process {0}</source>
        <translation>Prozess {0}</translation>
    </message>
    <message>
        <source>processes</source>
        <translation>Prozesse</translation>
    </message>
    <message>
        <source>prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>rank {0} ({1}) is {2}, {3}{4}</source>
        <translation>Rang {0} ({1}): {2}, {3}{4}</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>lehnte ab</translation>
    </message>
    <message>
        <source>rendezvous</source>
        <translation>Suche nach den anderen Rängen</translation>
    </message>
    <message>
        <source>reshaping LoRA</source>
        <translation>umformendes LoRA</translation>
    </message>
    <message>
        <source>rows</source>
        <translation>Zeilen</translation>
    </message>
    <message>
        <source>signal {0}</source>
        <translation>Signal {0}</translation>
    </message>
    <message>
        <source>spatial upsampler</source>
        <translation>räumlicher Upscaler</translation>
    </message>
    <message>
        <source>stage 1</source>
        <translation>Stufe 1</translation>
    </message>
    <message>
        <source>stage 2</source>
        <translation>Stufe 2</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>stg</source>
        <translation>STG</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>stopping</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>swapping</source>
        <translation>Austausch der Gewichte</translation>
    </message>
    <message>
        <source>swapping weights</source>
        <translation>Austausch der Gewichte</translation>
    </message>
    <message>
        <source>temporal upsampler</source>
        <translation>zeitlicher Upscaler</translation>
    </message>
    <message>
        <source>text encoder</source>
        <translation>Text-Encoder</translation>
    </message>
    <message>
        <source>text projection</source>
        <translation>Textprojektion</translation>
    </message>
    <message>
        <source>text-encoder file</source>
        <translation>Text-Encoder-Datei</translation>
    </message>
    <message>
        <source>that cannot be read here</source>
        <translation>der hier nicht lesbar ist</translation>
    </message>
    <message>
        <source>that is no folder that can be reached. Choose one that exists, on a drive that is there.</source>
        <translation>Dieser Ordner ist nicht erreichbar. Wählen Sie einen, den es gibt, auf einem Laufwerk, das da ist.</translation>
    </message>
    <message>
        <source>the Gemma 4 that Google published, which is no substitute</source>
        <translation>die Gemma 4, die Google veröffentlicht hat, und kein Ersatz</translation>
    </message>
    <message>
        <source>the IOMMU stands between them</source>
        <translation>Die IOMMU steht dazwischen</translation>
    </message>
    <message>
        <source>the disk is full. Make room on it.</source>
        <translation>Der Datenträger ist voll. Schaffen Sie Platz darauf.</translation>
    </message>
    <message>
        <source>the disk reports a failure. See to it before more is lost.</source>
        <translation>Der Datenträger meldet einen Fehler. Kümmern Sie sich darum, bevor mehr verloren geht.</translation>
    </message>
    <message>
        <source>the distilled LoRA that was published with the checkpoint.</source>
        <translation>das destillierte LoRA, das mit dem Checkpoint veröffentlicht wurde.</translation>
    </message>
    <message>
        <source>the drive or the encoder refused. Choose another folder, or look at the details.</source>
        <translation>Das Laufwerk oder der Encoder verweigerte es. Wählen Sie einen anderen Ordner, oder sehen Sie in die Einzelheiten.</translation>
    </message>
    <message>
        <source>the driver does not say why</source>
        <translation>Der Treiber sagt nicht, warum</translation>
    </message>
    <message>
        <source>the driver&apos;s settings switch it off</source>
        <translation>Die Einstellungen des Treibers schalten sie ab</translation>
    </message>
    <message>
        <source>the file is damaged. Start Podium anew: it keeps the damaged one aside.</source>
        <translation>Die Datei ist beschädigt. Starten Sie Podium neu: Es hebt die beschädigte beiseite auf.</translation>
    </message>
    <message>
        <source>the folder may not be written to. Choose another folder.</source>
        <translation>In den Ordner darf nicht geschrieben werden. Wählen Sie einen anderen.</translation>
    </message>
    <message>
        <source>the folder of Gemma 3</source>
        <translation>den Ordner von Gemma 3</translation>
    </message>
    <message>
        <source>the folder of Gemma 3, with its config.json, tokenizer.json and all of its .safetensors files.</source>
        <translation>den Ordner von Gemma 3 mit config.json, tokenizer.json und allen seinen .safetensors-Dateien.</translation>
    </message>
    <message>
        <source>the mainboard&apos;s chipset does not allow it</source>
        <translation>Der Chipsatz der Hauptplatine lässt sie nicht zu</translation>
    </message>
    <message>
        <source>the name is too long. Choose a shorter one.</source>
        <translation>Der Name ist zu lang. Wählen Sie einen kürzeren.</translation>
    </message>
    <message>
        <source>the same clip on {0} GPUs</source>
        <translation>derselbe Clip auf {0} GPUs</translation>
    </message>
    <message>
        <source>the same clip with fp8 weights</source>
        <translation>derselbe Clip mit fp8-Gewichten</translation>
    </message>
    <message>
        <source>the text encoder of LTX-2.5, a single .safetensors file that Lightricks published beside the transformer.</source>
        <translation>den Text-Encoder von LTX-2.5, eine einzelne .safetensors-Datei, die Lightricks neben dem Transformer veröffentlicht hat.</translation>
    </message>
    <message>
        <source>the text encoder&apos;s file of LTX-2.5</source>
        <translation>die Text-Encoder-Datei von LTX-2.5</translation>
    </message>
    <message>
        <source>there is no room left for it. Free some space or choose another folder.</source>
        <translation>Es ist kein Platz mehr dafür. Schaffen Sie Platz, oder wählen Sie einen anderen Ordner.</translation>
    </message>
    <message>
        <source>these cards do not offer it</source>
        <translation>Diese Karten bieten sie nicht</translation>
    </message>
    <message>
        <source>they hang on different processors</source>
        <translation>Die GPUs hängen an verschiedenen Prozessoren</translation>
    </message>
    <message>
        <source>they need</source>
        <translation>sie brauchen</translation>
    </message>
    <message>
        <source>this part of a model</source>
        <translation>diesen Teil eines Modells</translation>
    </message>
    <message>
        <source>tokenizer</source>
        <translation>Tokenizer</translation>
    </message>
    <message>
        <source>transformer</source>
        <translation>Transformer</translation>
    </message>
    <message>
        <source>transformers</source>
        <translation>Transformer</translation>
    </message>
    <message>
        <source>unknown to this model</source>
        <translation>diesem Modell unbekannt</translation>
    </message>
    <message>
        <source>unquantised</source>
        <translation>nur unquantisiert</translation>
    </message>
    <message>
        <source>unquantised or in fp8 with scales</source>
        <translation>nur unquantisiert oder in fp8 mit Skalen</translation>
    </message>
    <message>
        <source>unreadable</source>
        <translation>nicht lesbar</translation>
    </message>
    <message>
        <source>upsampling</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <source>version</source>
        <translation>Version</translation>
    </message>
    <message>
        <source>video VAE</source>
        <translation>Video-VAE</translation>
    </message>
    <message>
        <source>video decoder</source>
        <translation>Video-Decoder</translation>
    </message>
    <message>
        <source>video encoder</source>
        <translation>Video-Encoder</translation>
    </message>
    <message>
        <source>vocoder</source>
        <translation>Vocoder</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>wartet</translation>
    </message>
    <message>
        <source>waiting for rank {0}</source>
        <translation>wartet auf Rang {0}</translation>
    </message>
    <message>
        <source>was ended by {0}</source>
        <translation>wurde durch {0} beendet</translation>
    </message>
    <message>
        <source>was killed by the system</source>
        <translation>wurde vom System beendet</translation>
    </message>
    <message>
        <source>width</source>
        <translation>Breite</translation>
    </message>
    <message>
        <source>without {0}</source>
        <translation>ohne {0}</translation>
    </message>
    <message>
        <source>writing</source>
        <translation>Schreiben</translation>
    </message>
    <message>
        <source>{0} GB</source>
        <translation>{0} GB</translation>
    </message>
    <message>
        <source>{0} changes only the text connectors, which Podium leaves as they are. {1}</source>
        <translation>{0} ändert nur die Text-Konnektoren, die Podium unverändert lässt. {1}</translation>
    </message>
    <message>
        <source>{0} devices are chosen, and this model can be shared by {1} at most. Choose fewer.</source>
        <translation>{0} Geräte sind gewählt, und dieses Modell lässt sich auf höchstens {1} aufteilen. Wählen Sie weniger.</translation>
    </message>
    <message>
        <source>{0} does not fit this model ({1}). A LoRA made for this model, whole, is needed.</source>
        <translation>{0} passt nicht zu diesem Modell ({1}). Gebraucht wird ein vollständiges LoRA für dieses Modell.</translation>
    </message>
    <message>
        <source>{0} exchange directly over the PCI bus.</source>
        <translation>{0} tauschen sich direkt über den PCI-Bus aus.</translation>
    </message>
    <message>
        <source>{0} exchange over NVLink.</source>
        <translation>{0} tauschen sich über NVLink aus.</translation>
    </message>
    <message>
        <source>{0} frames</source>
        <translation>{0} Bilder</translation>
    </message>
    <message>
        <source>{0} has {1} GB</source>
        <translation>{0} hat {1} GB</translation>
    </message>
    <message>
        <source>{0} have no direct link: {1}.</source>
        <translation>{0} haben keine direkte Verbindung: {1}.</translation>
    </message>
    <message>
        <source>{0} holds its weights in full, without fp8 scales. Choose the quantisation “{1}” or “{2}” for it, or the official fp8 file of the model.</source>
        <translation>{0} enthält die Gewichte in voller Genauigkeit, ohne fp8-Skalen. Wählen Sie dafür die Quantisierung „{1}“ oder „{2}“, oder die offizielle fp8-Datei des Modells.</translation>
    </message>
    <message>
        <source>{0} holds no tensors. {1}</source>
        <translation>{0} enthält keine Tensoren. {1}</translation>
    </message>
    <message>
        <source>{0} is a LoRA for another model: this one has no layer {1}. {2}</source>
        <translation>{0} ist ein LoRA für ein anderes Modell: Dieses hat keine Ebene {1}. {2}</translation>
    </message>
    <message>
        <source>{0} is an fp8 file with scales, which cannot be held as “{1}”. Choose the quantisation “{2}” for it, or the bf16 file of the model.</source>
        <translation>{0} ist eine fp8-Datei mit Skalen und lässt sich nicht als „{1}“ halten. Wählen Sie dafür die Quantisierung „{2}“, oder die bf16-Datei des Modells.</translation>
    </message>
    <message>
        <source>{0} is no LoRA: it holds no factors, but {1}. {2}</source>
        <translation>{0} ist kein LoRA: Statt Faktoren enthält die Datei {1}. {2}</translation>
    </message>
    <message>
        <source>{0} is no longer where it was when this clip was asked for. Put it back and retry, or edit the clip.</source>
        <translation>{0} liegt nicht mehr dort, wo die Datei lag, als dieser Clip verlangt wurde. Legen Sie sie zurück, und versuchen Sie es nochmals, oder bearbeiten Sie den Clip.</translation>
    </message>
    <message>
        <source>{0} is used by another Podium{1}. Wait until that is done, end it, or choose other devices.</source>
        <translation>{0} wird von einem anderen Podium verwendet{1}. Warten Sie, bis es fertig ist, beenden Sie es, oder wählen Sie andere Geräte.</translation>
    </message>
    <message>
        <source>{0} is {1} {2}, which Podium cannot apply. {3}</source>
        <translation>{0} ist {1} {2}, den Podium nicht anwenden kann. {3}</translation>
    </message>
    <message>
        <source>{0} key frames do not fit into this clip. It can have 1 to {1} of them.</source>
        <translation>{0} Schlüsselbilder passen nicht in diesen Clip. Er kann 1 bis {1} davon haben.</translation>
    </message>
    <message>
        <source>{0} layers of width {1}</source>
        <translation>{0} Ebenen der Breite {1}</translation>
    </message>
    <message>
        <source>{0} or {1}</source>
        <translation>{0} oder {1}</translation>
    </message>
    <message>
        <source>{0} and {1}</source>
        <translation>{0} und {1}</translation>
    </message>
    <message>
        <source>{0} refines its clips with the model&apos;s distilled LoRA, and none was chosen. Choose the one of the same generation, or take Fast with a distilled checkpoint.</source>
        <translation>„{0}“ verfeinert Clips mit dem destillierten LoRA des Modells, und keines ist gewählt. Wählen Sie das derselben Generation, oder nehmen Sie „Schnell“ mit einem destillierten Checkpoint.</translation>
    </message>
    <message>
        <source>{0} steps cannot be made. At least 1 is needed; 15 to 40 are usual.</source>
        <translation>{0} Schritte sind nicht möglich. Mindestens 1 ist nötig; üblich sind 15 bis 40.</translation>
    </message>
    <message>
        <source>{0} steps cannot be made. The number must lie from 1 to {1}.</source>
        <translation>{0} Schritte sind nicht möglich. Die Zahl muss zwischen 1 und {1} liegen.</translation>
    </message>
    <message>
        <source>{0} was changed since this clip was asked for. Put the earlier file back and retry, or edit the clip to take the new one.</source>
        <translation>{0} wurde geändert, seit dieser Clip verlangt wurde. Legen Sie die frühere Datei zurück, und versuchen Sie es nochmals, oder bearbeiten Sie den Clip, um die neue zu nehmen.</translation>
    </message>
    <message>
        <source>{0} {1}{2} would fit; or close other programs.</source>
        <translation>Platz wäre für {0} {1}{2}; oder schließen Sie andere Programme.</translation>
    </message>
    <message>
        <source>{0} × {1} pixels</source>
        <translation>{0} × {1} Pixel</translation>
    </message>
    <message>
        <source>{0}, its {1} too. Podium reads only the transformer in fp8. {2}</source>
        <translation>{0}, auch: {1}. Podium liest nur den Transformer in fp8. {2}</translation>
    </message>
    <message>
        <source>{0}, process {1}</source>
        <translation>{0}, Prozess {1}</translation>
    </message>
    <message>
        <source>{0}, rank {1}: {2} GB ({3})</source>
        <translation>{0}, Rang {1}: {2} GB ({3})</translation>
    </message>
    <message>
        <source>{0}. Make the folder writable.</source>
        <translation>{0}. Machen Sie den Ordner beschreibbar.</translation>
    </message>
    <message>
        <source>{0}. Podium reads {1} {2}. {3}</source>
        <translation>{0}. Podium liest {1} {2}. {3}</translation>
    </message>
    <message>
        <source>{0}: all {1} layers applied.</source>
        <translation>{0}: alle {1} Ebenen angewendet.</translation>
    </message>
    <message>
        <source>{0}: {1} of {2} layers applied; left out: {3}.</source>
        <translation>{0}: {1} von {2} Ebenen angewendet; weggelassen: {3}.</translation>
    </message>
    <message>
        <source>{0}={1} was set for this fleet.</source>
        <translation>Für diesen Verbund wurde {0}={1} gesetzt.</translation>
    </message>
    <message>
        <source>“{0}” can no longer be read, though its header could. Check that its drive is there and sound.</source>
        <translation>„{0}“ ist nicht mehr lesbar, obwohl der Dateikopf es war. Prüfen Sie, ob das Laufwerk da und in Ordnung ist.</translation>
    </message>
    <message>
        <source>“{0}” can no longer be read, though its header could. Is its drive still there, and the file the same?</source>
        <translation>„{0}“ ist nicht mehr lesbar, obwohl der Dateikopf es war. Ist das Laufwerk noch da, und ist es noch dieselbe Datei?</translation>
    </message>
    <message>
        <source>“{0}” can no longer be read. Is its drive still there, and the file whole?</source>
        <translation>„{0}“ ist nicht mehr lesbar. Ist das Laufwerk noch da, und ist die Datei vollständig?</translation>
    </message>
    <message>
        <source>“{0}” can no longer be read. Put it back, or choose another file.</source>
        <translation>„{0}“ ist nicht mehr lesbar. Legen Sie die Datei zurück, oder wählen Sie eine andere.</translation>
    </message>
    <message>
        <source>“{0}” cannot be applied: this checkpoint keeps its weights in a form that LoRAs cannot be added to. The bf16 checkpoint of the model is needed, or its official fp8 file, or a job without LoRAs.</source>
        <translation>„{0}“ lässt sich nicht anwenden: Dieser Checkpoint hält seine Gewichte in einer Form, zu der keine LoRAs hinzugefügt werden können. Gebraucht wird der bf16-Checkpoint des Modells oder seine offizielle fp8-Datei, oder ein Clip ohne LoRAs.</translation>
    </message>
    <message>
        <source>“{0}” cannot be read. Check that its drive is there and sound, or choose another file.</source>
        <translation>„{0}“ ist nicht lesbar. Prüfen Sie, ob das Laufwerk da und in Ordnung ist, oder wählen Sie eine andere Datei.</translation>
    </message>
    <message>
        <source>“{0}” could not be written to “{1}”: {2}</source>
        <translation>„{0}“ konnte nicht in „{1}“ geschrieben werden: {2}</translation>
    </message>
    <message>
        <source>“{0}” does not end in .mp4. Choose a name that does.</source>
        <translation>„{0}“ endet nicht auf .mp4. Wählen Sie einen Namen, der so endet.</translation>
    </message>
    <message>
        <source>“{0}” does not end in {1}. Choose a name that does.</source>
        <translation>„{0}“ endet nicht auf {1}. Wählen Sie einen Namen, der so endet.</translation>
    </message>
    <message>
        <source>“{0}” does not hold the network it describes: {1} of its weights do not fit ({2}). A complete file of one model generation is needed.</source>
        <translation>„{0}“ enthält nicht das Netz, das die Datei beschreibt: {1} der Gewichte passen nicht ({2}). Gebraucht wird eine vollständige Datei einer Modellgeneration.</translation>
    </message>
    <message>
        <source>“{0}” does not say how its networks are built, so it cannot be loaded. Files as published by Lightricks carry that description.</source>
        <translation>„{0}“ sagt nicht, wie die Netze darin gebaut sind, und lässt sich daher nicht laden. Dateien, wie Lightricks sie veröffentlicht, enthalten diese Beschreibung.</translation>
    </message>
    <message>
        <source>“{0}” does not say how its transformer is built. Choose the checkpoint as Lightricks published it, with its description inside.</source>
        <translation>„{0}“ sagt nicht, wie der Transformer gebaut ist. Wählen Sie den Checkpoint, wie Lightricks ihn veröffentlicht hat, mit der Beschreibung darin.</translation>
    </message>
    <message>
        <source>“{0}” does not say which version of the text encoder it belongs to, so it is not clear whether “{1}” and “{2}” fit each other. Choose both as published.</source>
        <translation>„{0}“ sagt nicht, zu welcher Version des Text-Encoders die Datei gehört; daher ist nicht klar, ob „{1}“ und „{2}“ zueinander passen. Wählen Sie beide, wie sie veröffentlicht wurden.</translation>
    </message>
    <message>
        <source>“{0}” enlarges latents of {1} channels {2}; those of LTX-2 have {3}. {4}</source>
        <translation>„{0}“ vergrößert Latents mit {1} Kanälen {2}; die von LTX-2 haben {3}. {4}</translation>
    </message>
    <message>
        <source>“{0}” has no picture number {1}: it is shorter than that.</source>
        <translation>„{0}“ hat kein Bild Nummer {1}: Der Clip ist kürzer.</translation>
    </message>
    <message>
        <source>“{0}” has no picture that could be read. An mp4 made by Podium would do.</source>
        <translation>„{0}“ hat kein lesbares Bild. Geeignet ist eine mp4 von Podium.</translation>
    </message>
    <message>
        <source>“{0}” has no picture. A clip with a picture would do.</source>
        <translation>„{0}“ hat kein Bild. Geeignet ist ein Clip mit Bild.</translation>
    </message>
    <message>
        <source>“{0}” has no pixels. {1}</source>
        <translation>„{0}“ hat keine Pixel. {1}</translation>
    </message>
    <message>
        <source>“{0}” has over {1} GiB, too much for a picture. {2}</source>
        <translation>„{0}“ hat über {1} GiB, zu viel für ein Bild. {2}</translation>
    </message>
    <message>
        <source>“{0}” holds its pixels as {1} outside 0 to 1, which says nothing about white. Save it with 8 or 16 bits a channel.</source>
        <translation>„{0}“ enthält Pixel als {1} außerhalb von 0 bis 1, was nichts darüber sagt, was weiß ist. Speichern Sie das Bild mit 8 oder 16 Bit je Kanal.</translation>
    </message>
    <message>
        <source>“{0}” holds its weights in full, without fp8 scales. Choose the quantisation “fp8-cast” or “none” for it, or the official fp8 file of the model.</source>
        <translation>„{0}“ enthält die Gewichte in voller Genauigkeit, ohne fp8-Skalen. Wählen Sie dafür die Quantisierung „fp8-cast“ oder „none“, oder die offizielle fp8-Datei des Modells.</translation>
    </message>
    <message>
        <source>“{0}” holds no parameters. Clips made by Podium carry them, in the file or in a .json beside it.</source>
        <translation>„{0}“ enthält keine Einstellungen. Clips von Podium tragen sie in sich oder in einer .json daneben.</translation>
    </message>
    <message>
        <source>“{0}” holds no text projection, which turns the text encoder&apos;s output into what the model reads. The whole checkpoint is needed (for a split pack, its text-encoder file too).</source>
        <translation>„{0}“ enthält keine Textprojektion, die aus dem Ergebnis des Text-Encoders macht, was das Modell liest. Gebraucht wird der ganze Checkpoint (bei einem Modell in mehreren Dateien auch seine Text-Encoder-Datei).</translation>
    </message>
    <message>
        <source>“{0}” holds only a model&apos;s {1}, and lacks its {2}. {3}</source>
        <translation>„{0}“ enthält von einem Modell nur: {1}. Es fehlt: {2}. {3}</translation>
    </message>
    <message>
        <source>“{0}” holds the same weight twice, so it is not clear which to use.</source>
        <translation>„{0}“ enthält dasselbe Gewicht zweimal; daher ist nicht klar, welches gilt.</translation>
    </message>
    <message>
        <source>“{0}” holds values that are no numbers: its training failed, or the file is damaged. Another copy or an earlier training step of it is needed.</source>
        <translation>„{0}“ enthält Werte, die keine Zahlen sind: Das Training ist misslungen, oder die Datei ist beschädigt. Gebraucht wird eine andere Kopie oder ein früherer Stand des Trainings.</translation>
    </message>
    <message>
        <source>“{0}” in “{1}” is no file of Podium&apos;s and is kept. Choose another name.</source>
        <translation>„{0}“ in „{1}“ ist keine Datei von Podium und bleibt erhalten. Wählen Sie einen anderen Namen.</translation>
    </message>
    <message>
        <source>“{0}” in “{1}” is no picture file. {2}</source>
        <translation>„{0}“ in „{1}“ ist keine Bilddatei. {2}</translation>
    </message>
    <message>
        <source>“{0}” is a GGUF file, which Podium does not read. Choose the same model as a .safetensors file.</source>
        <translation>„{0}“ ist eine GGUF-Datei, die Podium nicht liest. Wählen Sie dasselbe Modell als .safetensors-Datei.</translation>
    </message>
    <message>
        <source>“{0}” is a folder in “{1}”. Choose the name of a file.</source>
        <translation>„{0}“ ist ein Ordner in „{1}“. Wählen Sie den Namen einer Datei.</translation>
    </message>
    <message>
        <source>“{0}” is a folder. Choose a file in it that ends in .safetensors.</source>
        <translation>„{0}“ ist ein Ordner. Wählen Sie darin eine Datei, die auf .safetensors endet.</translation>
    </message>
    <message>
        <source>“{0}” is a pickled checkpoint, which can run any program when it is opened, so Podium does not read it. Choose the same model as a .safetensors file.</source>
        <translation>„{0}“ ist ein Checkpoint im Pickle-Format. Der kann beim Öffnen beliebige Programme ausführen, daher liest Podium ihn nicht. Wählen Sie dasselbe Modell als .safetensors-Datei.</translation>
    </message>
    <message>
        <source>“{0}” is a pipe or a device, and no file. Choose a file that ends in .safetensors.</source>
        <translation>„{0}“ ist eine Pipe oder ein Gerät, und keine Datei. Wählen Sie eine Datei, die auf .safetensors endet.</translation>
    </message>
    <message>
        <source>“{0}” is a pointer of a few lines, left by a git clone without its large files. Run “git lfs pull” in that folder, or fetch the file itself.</source>
        <translation>„{0}“ ist nur ein Verweis von wenigen Zeilen aus einem git-Klon ohne die großen Dateien. Führen Sie in diesem Ordner „git lfs pull“ aus, oder laden Sie die Datei selbst herunter.</translation>
    </message>
    <message>
        <source>“{0}” is a safetensors file, but its {1} tensors are no part of an LTX-2 model. Podium reads checkpoints, text encoders, upscalers and LoRAs of LTX-2.</source>
        <translation>„{0}“ ist eine safetensors-Datei, doch die {1} Tensoren darin gehören zu keinem LTX-2-Modell. Podium liest Checkpoints, Text-Encoder, Upscaler und LoRAs von LTX-2.</translation>
    </message>
    <message>
        <source>“{0}” is a text encoder without its {1}, which “{2}” needs. Choose {3}</source>
        <translation>„{0}“ ist ein Text-Encoder, dem etwas fehlt ({1}), das „{2}“ braucht. Wählen Sie {3}</translation>
    </message>
    <message>
        <source>“{0}” is a web page saved under the name of a model: the site asked to sign in or to accept a licence. Do so in the browser, then fetch the file again.</source>
        <translation>„{0}“ ist eine Webseite, die unter dem Namen eines Modells gespeichert wurde: Die Seite verlangte eine Anmeldung oder die Zustimmung zu einer Lizenz. Holen Sie das im Browser nach, und laden Sie die Datei dann erneut herunter.</translation>
    </message>
    <message>
        <source>“{0}” is an fp8 file with scales, which cannot be read as “{1}”. Choose the quantisation “fp8-scaled” for it, or the bf16 file of the model.</source>
        <translation>„{0}“ ist eine fp8-Datei mit Skalen und lässt sich nicht als „{1}“ lesen. Wählen Sie dafür die Quantisierung „fp8-scaled“, oder die bf16-Datei des Modells.</translation>
    </message>
    <message>
        <source>“{0}” is cut off within its first part: at least {1} bytes are missing. Fetch it again.</source>
        <translation>„{0}“ ist schon im ersten Teil abgeschnitten: Es fehlen mindestens {1} Bytes. Laden Sie die Datei erneut herunter.</translation>
    </message>
    <message>
        <source>“{0}” is cut off: {1} of {2} bytes are missing. Its download did not end: fetch it again.</source>
        <translation>„{0}“ ist abgeschnitten: Es fehlen {1} von {2} Bytes. Der Download wurde nicht fertig: Laden Sie die Datei erneut herunter.</translation>
    </message>
    <message>
        <source>“{0}” is damaged or was cut off: it cannot be read to its end. Save it again. {1}</source>
        <translation>„{0}“ ist beschädigt oder abgeschnitten: Die Datei ist nicht bis zum Ende lesbar. Speichern Sie sie neu. {1}</translation>
    </message>
    <message>
        <source>“{0}” is damaged: its list of contents makes no sense. Fetch it again.</source>
        <translation>„{0}“ ist beschädigt: Das Inhaltsverzeichnis ergibt keinen Sinn. Laden Sie die Datei erneut herunter.</translation>
    </message>
    <message>
        <source>“{0}” is damaged: its picture {1} cannot be read.</source>
        <translation>„{0}“ ist beschädigt: Bild {1} ist nicht lesbar.</translation>
    </message>
    <message>
        <source>“{0}” is damaged: the alpha of its layer {1} is no number. A whole copy of the file is needed.</source>
        <translation>„{0}“ ist beschädigt: Das Alpha der Ebene {1} ist keine Zahl. Gebraucht wird eine vollständige Kopie der Datei.</translation>
    </message>
    <message>
        <source>“{0}” is empty. Its download has failed, or the disk was full: fetch it again.</source>
        <translation>„{0}“ ist leer. Der Download ist misslungen, oder der Datenträger war voll: Laden Sie die Datei erneut herunter.</translation>
    </message>
    <message>
        <source>“{0}” is empty. {1}</source>
        <translation>„{0}“ ist leer. {1}</translation>
    </message>
    <message>
        <source>“{0}” is in “{1}” already and is kept. Choose another name.</source>
        <translation>„{0}“ gibt es in „{1}“ schon, und die Datei bleibt erhalten. Wählen Sie einen anderen Namen.</translation>
    </message>
    <message>
        <source>“{0}” is no clip that can be read: it is damaged, unfinished or of another kind. An mp4 would do.</source>
        <translation>„{0}“ ist kein lesbarer Clip: Die Datei ist beschädigt, unfertig oder von anderer Art. Geeignet ist eine mp4.</translation>
    </message>
    <message>
        <source>“{0}” is no picture of a known kind, or its head is damaged. {1}</source>
        <translation>„{0}“ ist kein Bild einer bekannten Art, oder der Anfang der Datei ist beschädigt. {1}</translation>
    </message>
    <message>
        <source>“{0}” is no safetensors file, or its beginning is damaged. Choose a file that ends in .safetensors, or fetch it again.</source>
        <translation>„{0}“ ist keine safetensors-Datei, oder der Anfang ist beschädigt. Wählen Sie eine Datei, die auf .safetensors endet, oder laden Sie diese erneut herunter.</translation>
    </message>
    <message>
        <source>“{0}” is not a complete Gemma {1}, which this model&apos;s text encoder is. {2}</source>
        <translation>„{0}“ ist nicht vollständig: Der Text-Encoder dieses Modells ist eine Gemma ({1}). {2}</translation>
    </message>
    <message>
        <source>“{0}” is not a frame rate. Write it as 24, 25, 23.976 or 30000/1001.</source>
        <translation>„{0}“ ist keine Bildrate. Schreiben Sie sie als 24, 25, 23.976 oder 30000/1001.</translation>
    </message>
    <message>
        <source>“{0}” is not a spatial upscaler. Choose one of x2 or x1.5.</source>
        <translation>„{0}“ ist kein räumlicher Upscaler. Wählen Sie einen für x2 oder x1.5.</translation>
    </message>
    <message>
        <source>“{0}” is not in “{1}”. Choose a clip that is there.</source>
        <translation>„{0}“ liegt nicht in „{1}“. Wählen Sie einen Clip, der da ist.</translation>
    </message>
    <message>
        <source>“{0}” is not there any more.</source>
        <translation>„{0}“ ist nicht mehr da.</translation>
    </message>
    <message>
        <source>“{0}” is of LTX-{1}, and “{2}” of LTX-{3}. Choose the one of LTX-{4}.</source>
        <translation>„{0}“ gehört zu LTX-{1} und „{2}“ zu LTX-{3}. Wählen Sie die Datei von LTX-{4}.</translation>
    </message>
    <message>
        <source>“{0}” is quantised in a way that Podium cannot read: {1}. Choose the bf16 file of the model, or its official fp8 file with the quantisation “fp8-scaled”.</source>
        <translation>„{0}“ ist auf eine Weise quantisiert, die Podium nicht lesen kann: {1}. Wählen Sie die bf16-Datei des Modells, oder seine offizielle fp8-Datei mit der Quantisierung „fp8-scaled“.</translation>
    </message>
    <message>
        <source>“{0}” is quantised: {1}{2}</source>
        <translation>„{0}“ ist quantisiert: {1}{2}</translation>
    </message>
    <message>
        <source>“{0}” is the temporal upscaler, which adds frames. {1}</source>
        <translation>„{0}“ ist der zeitliche Upscaler, der Bilder hinzufügt. {1}</translation>
    </message>
    <message>
        <source>“{0}” is too large: at most {1} pixels a side and {2} million in all would do.</source>
        <translation>„{0}“ ist zu groß: Erlaubt sind höchstens {1} Pixel je Seite und {2} Millionen insgesamt.</translation>
    </message>
    <message>
        <source>“{0}” is {1}. Choose the checkpoint as Lightricks published it, in one .safetensors file.</source>
        <translation>„{0}“ ist {1}. Wählen Sie den Checkpoint, wie Lightricks ihn veröffentlicht hat, in einer .safetensors-Datei.</translation>
    </message>
    <message>
        <source>“{0}” is {1}. {2}</source>
        <translation>„{0}“ ist {1}. {2}</translation>
    </message>
    <message>
        <source>“{0}” is {1}; “{2}”, a model of LTX-{3}, needs {4}. Choose {5}</source>
        <translation>„{0}“ ist {1}; „{2}“, ein Modell von LTX-{3}, braucht {4}. Wählen Sie {5}</translation>
    </message>
    <message>
        <source>“{0}” keeps weights in fp8 that are no layers of this model ({1}). The official fp8 file of the model is needed, or its bf16 file.</source>
        <translation>„{0}“ hält Gewichte in fp8, die keine Ebenen dieses Modells sind ({1}). Gebraucht wird die offizielle fp8-Datei des Modells oder seine bf16-Datei.</translation>
    </message>
    <message>
        <source>“{0}” lacks its text projection, which the Gemma 3 folder “{1}” does not bring along. Choose the checkpoint in one .safetensors file.</source>
        <translation>„{0}“ fehlt die Textprojektion, die der Gemma-3-Ordner „{1}“ nicht mitbringt. Wählen Sie den Checkpoint in einer .safetensors-Datei.</translation>
    </message>
    <message>
        <source>“{0}” lacks {1} of the {2} blocks of its transformer, block {3} first. Choose the whole checkpoint.</source>
        <translation>„{0}“ fehlen {1} der {2} Blöcke des Transformers, als erster Block {3}. Wählen Sie den vollständigen Checkpoint.</translation>
    </message>
    <message>
        <source>“{0}” lacks {1} of the {2} layers of its text encoder, layer {3} first. Choose the whole text encoder.</source>
        <translation>„{0}“ fehlen {1} der {2} Ebenen des Text-Encoders, als erste Ebene {3}. Wählen Sie den vollständigen Text-Encoder.</translation>
    </message>
    <message>
        <source>“{0}” may not be read by you. Change its permissions, or choose another file.</source>
        <translation>„{0}“ dürfen Sie nicht lesen. Ändern Sie die Rechte, oder wählen Sie eine andere Datei.</translation>
    </message>
    <message>
        <source>“{0}” may not be read. Change its permissions or choose another clip.</source>
        <translation>„{0}“ darf nicht gelesen werden. Ändern Sie die Rechte, oder wählen Sie einen anderen Clip.</translation>
    </message>
    <message>
        <source>“{0}” says that it was made for LTX-{1}, but its tensors are those of LTX-{2}. Choose the checkpoint as it was published.</source>
        <translation>„{0}“ gibt an, für LTX-{1} gemacht zu sein, doch die Tensoren sind die von LTX-{2}. Wählen Sie den Checkpoint, wie er veröffentlicht wurde.</translation>
    </message>
    <message>
        <source>“{0}” stores some of its layers turned and others not, so that square ones cannot be told. Fetch the official fp8 file again, or choose the bf16 file of the model.</source>
        <translation>„{0}“ speichert einige Ebenen gedreht und andere nicht, sodass es sich bei quadratischen nicht sagen lässt. Laden Sie die offizielle fp8-Datei erneut herunter, oder wählen Sie die bf16-Datei des Modells.</translation>
    </message>
    <message>
        <source>“{0}” was not made for “{1}”: part of it does not fit. Choose {2}</source>
        <translation>„{0}“ ist nicht für „{1}“ gemacht: Ein Teil passt nicht. Wählen Sie {2}</translation>
    </message>
    <message>
        <source>“{0}” was replaced while it was read, so old and new values may be mixed. Try again when the new file is whole.</source>
        <translation>„{0}“ wurde beim Lesen ersetzt, sodass alte und neue Werte vermischt sein können. Versuchen Sie es erneut, wenn die neue Datei vollständig ist.</translation>
    </message>
    <message>
        <source>“{0}” was replaced while it was read, so old and new weights may be mixed. Try again when the new file is whole.</source>
        <translation>„{0}“ wurde beim Lesen ersetzt, sodass alte und neue Gewichte vermischt sein können. Versuchen Sie es erneut, wenn die neue Datei vollständig ist.</translation>
    </message>
    <message>
        <source>“{0}” was trained for {1}, and this model is {2}: it may do little, or something else.</source>
        <translation>„{0}“ wurde für {1} trainiert, und dieses Modell ist {2}: Es bewirkt vielleicht wenig oder etwas anderes.</translation>
    </message>
    <message>
        <source>“{0}” was written by a newer Podium, and is left as it is. Queue and history of this one hold until the window is closed. Start the newer Podium to have yours.</source>
        <translation>„{0}“ wurde von einem neueren Podium geschrieben und bleibt, wie es ist. Warteschlange und Verlauf von diesem hier halten, bis das Fenster geschlossen wird. Starten Sie das neuere Podium, um Ihre zu haben.</translation>
    </message>
</context>
<context>
    <name>SessionState</name>
    <message>
        <source>The demo model was trained on small, short clips: beyond {0} pixels or {1} frames it gets shapes and their motion wrong.</source>
        <translation>Das Demomodell wurde an kleinen, kurzen Clips trainiert: Über {0} Pixel oder {1} Bilder hinaus macht es Formen und ihre Bewegung falsch.</translation>
    </message>
    <message>
        <source>The queue is paused, since fleets fail one after another. {0} Resume it to try again.</source>
        <translation>Die Warteschlange ist angehalten, da ein Verbund nach dem anderen ausfällt. {0} Setzen Sie sie fort, um es nochmals zu versuchen.</translation>
    </message>
    <message>
        <source>The fleet was stopped. Resume the queue to start it again.</source>
        <translation>Der Verbund wurde beendet. Setzen Sie die Warteschlange fort, um ihn wieder zu starten.</translation>
    </message>
</context>
<context>
    <name>ShortcutsDialog</name>
    <message>
        <source>Keyboard Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>SleepInhibitor</name>
    <message>
        <source>A clip is being made</source>
        <translation>Ein Clip entsteht</translation>
    </message>
    <message>
        <source>A clip is being exported</source>
        <translation>Ein Clip wird exportiert</translation>
    </message>
</context>
<context>
    <name>SpeedButton</name>
    <message>
        <source>Speed: {0}</source>
        <translation>Tempo: {0}</translation>
    </message>
    <message>
        <source>How fast it plays</source>
        <translation>Wie schnell er läuft</translation>
    </message>
</context>
<context>
    <name>StageView</name>
    <message>
        <source>Space</source>
        <translation>Leertaste</translation>
    </message>
    <message>
        <source>Home   End</source>
        <translation>Pos1   Ende</translation>
    </message>
    <message>
        <source>Play or Pause</source>
        <translation>Abspielen oder anhalten</translation>
    </message>
    <message>
        <source>One Frame Back or On</source>
        <translation>Ein Bild zurück oder vor</translation>
    </message>
    <message>
        <source>First or Last Frame</source>
        <translation>Erstes oder letztes Bild</translation>
    </message>
    <message>
        <source>Slower or Faster</source>
        <translation>Langsamer oder schneller</translation>
    </message>
    <message>
        <source>Loop</source>
        <translation>Schleife</translation>
    </message>
    <message>
        <source>Mute</source>
        <translation>Stumm</translation>
    </message>
    <message>
        <source>Use this frame</source>
        <translation>Dieses Bild verwenden</translation>
    </message>
    <message>
        <source>More for this clip</source>
        <translation>Mehr zu diesem Clip</translation>
    </message>
    <message>
        <source>Stage 1, half size</source>
        <translation>Stufe 1, halbe Größe</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Abgebrochen</translation>
    </message>
    <message>
        <source>The clip was stopped; no file was written.</source>
        <translation>Der Clip wurde abgebrochen; es wurde keine Datei geschrieben.</translation>
    </message>
    <message>
        <source>This clip cannot be made as it is</source>
        <translation>Dieser Clip kann so nicht entstehen</translation>
    </message>
    <message>
        <source>The clip was not made</source>
        <translation>Der Clip ist nicht entstanden</translation>
    </message>
    <message>
        <source>On its way</source>
        <translation>Unterwegs</translation>
    </message>
    <message>
        <source>The first picture comes with the first step.</source>
        <translation>Das erste Bild kommt mit dem ersten Schritt.</translation>
    </message>
    <message>
        <source>Write a prompt and press Generate. You will watch the clip appear here.</source>
        <translation>Schreiben Sie einen Prompt, und drücken Sie „Erzeugen“. Hier sehen Sie den Clip entstehen.</translation>
    </message>
    <message>
        <source>Your clip will be here</source>
        <translation>Hier wird Ihr Clip sein</translation>
    </message>
    <message>
        <source>The clip cannot be played</source>
        <translation>Der Clip kann nicht abgespielt werden</translation>
    </message>
</context>
<context>
    <name>SuggestView</name>
    <message>
        <source>Wait for the length no more</source>
        <translation>Nicht länger auf die Länge warten</translation>
    </message>
    <message>
        <source>Have the model suggest the length</source>
        <translation>Die Länge vom Modell vorschlagen lassen</translation>
    </message>
    <message>
        <source>The model reads the prompt.</source>
        <translation>Das Modell liest den Prompt.</translation>
    </message>
</context>
<context>
    <name>TransportView</name>
    <message>
        <source>One frame back</source>
        <translation>Ein Bild zurück</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <source>One frame on</source>
        <translation>Ein Bild vor</translation>
    </message>
    <message>
        <source>Frame</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Loop</source>
        <translation>Schleife</translation>
    </message>
    <message>
        <source>Mute</source>
        <translation>Stumm</translation>
    </message>
    <message>
        <source>Volume</source>
        <translation>Lautstärke</translation>
    </message>
    <message>
        <source>Sound on</source>
        <translation>Ton an</translation>
    </message>
    <message>
        <source> of {0} frames</source>
        <translation> von {0} Bildern</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
</context>
<context>
    <name>WantedFleet</name>
    <message>
        <source>The model&apos;s files are being looked at.</source>
        <translation>Die Dateien des Modells werden geprüft.</translation>
    </message>
    <message>
        <source>The devices are being looked for.</source>
        <translation>Die Geräte werden gesucht.</translation>
    </message>
</context>
<context>
    <name>WelcomeView</name>
    <message>
        <source>Try the demo model</source>
        <translation>Demomodell ausprobieren</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Loslegen</translation>
    </message>
    <message>
        <source>Look around first</source>
        <translation>Erst einmal umsehen</translation>
    </message>
    <message>
        <source>Welcome to Podium</source>
        <translation>Willkommen bei Podium</translation>
    </message>
    <message>
        <source>Video with sound from a prompt, on this machine. Nothing leaves it.</source>
        <translation>Video mit Ton aus einem Prompt, auf diesem Rechner. Nichts verlässt ihn.</translation>
    </message>
    <message>
        <source>No model yet?</source>
        <translation>Noch kein Modell?</translation>
    </message>
    <message>
        <source>The demo model is tiny, is there in seconds, and shows how Podium works.</source>
        <translation>Das Demomodell ist winzig, in Sekunden da und zeigt, wie Podium arbeitet.</translation>
    </message>
    <message>
        <source>The model</source>
        <translation>Das Modell</translation>
    </message>
    <message>
        <source>Where it runs</source>
        <translation>Wo es läuft</translation>
    </message>
    <message>
        <source>Being looked at…</source>
        <translation>Wird geprüft…</translation>
    </message>
</context>
<context>
    <name>WindowActions</name>
    <message>
        <source>&amp;Keyboard Shortcuts</source>
        <translation>&amp;Tastenkürzel</translation>
    </message>
    <message>
        <source>&amp;About Podium</source>
        <translation>Ü&amp;ber Podium</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>&amp;Farbschema</translation>
    </message>
    <message>
        <source>&amp;Clip</source>
        <translation>&amp;Clip</translation>
    </message>
    <message>
        <source>&amp;History</source>
        <translation>&amp;Verlauf</translation>
    </message>
    <message>
        <source>&amp;Queue</source>
        <translation>&amp;Warteschlange</translation>
    </message>
    <message>
        <source>&amp;Generate</source>
        <translation>&amp;Erzeugen</translation>
    </message>
    <message>
        <source>He&amp;lp</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Form</source>
        <translation>Formular</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>Clip</source>
        <translation>Clip</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Warteschlange</translation>
    </message>
    <message>
        <source>Generate</source>
        <translation>Erzeugen</translation>
    </message>
    <message>
        <source>Choose &amp;Model…</source>
        <translation>&amp;Modell wählen…</translation>
    </message>
    <message>
        <source>Choose &amp;Devices…</source>
        <translation>&amp;Geräte wählen…</translation>
    </message>
    <message>
        <source>&amp;Try the Demo Model</source>
        <translation>&amp;Demomodell ausprobieren</translation>
    </message>
    <message>
        <source>Reuse a Clip&apos;s &amp;File…</source>
        <translation>&amp;Einstellungen aus einem Clip übernehmen…</translation>
    </message>
    <message>
        <source>Clips F&amp;older…</source>
        <translation>Ordner für &amp;Clips…</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>Add &amp;Pictures…</source>
        <translation>&amp;Bilder hinzufügen…</translation>
    </message>
    <message>
        <source>P&amp;aste Picture</source>
        <translation>Bild &amp;einfügen</translation>
    </message>
    <message>
        <source>&amp;Remove Pictures</source>
        <translation>Bilder ent&amp;fernen</translation>
    </message>
    <message>
        <source>Add &amp;LoRAs…</source>
        <translation>&amp;LoRAs hinzufügen…</translation>
    </message>
    <message>
        <source>Throw the &amp;Dice</source>
        <translation>&amp;Würfeln</translation>
    </message>
    <message>
        <source>&amp;Keep the Seed</source>
        <translation>&amp;Seed behalten</translation>
    </message>
    <message>
        <source>&amp;Fleet</source>
        <translation>Ver&amp;bund</translation>
    </message>
    <message>
        <source>&amp;Log</source>
        <translation>&amp;Protokoll</translation>
    </message>
    <message>
        <source>Show the &amp;Panels</source>
        <translation>Bereiche an&amp;zeigen</translation>
    </message>
    <message>
        <source>Stop &amp;Comparing</source>
        <translation>Vergleich been&amp;den</translation>
    </message>
    <message>
        <source>F&amp;ull Screen</source>
        <translation>V&amp;ollbild</translation>
    </message>
    <message>
        <source>&amp;Notify when Clips Are Done</source>
        <translation>&amp;Melden, wenn Clips fertig sind</translation>
    </message>
    <message>
        <source>&amp;Reduce Motion</source>
        <translation>Beweg&amp;ung verringern</translation>
    </message>
    <message>
        <source>As the &amp;System</source>
        <translation>Wie das &amp;System</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>&amp;Hell</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>&amp;Dunkel</translation>
    </message>
    <message>
        <source>&amp;Play or Pause</source>
        <translation>&amp;Wiedergabe oder Pause</translation>
    </message>
    <message>
        <source>One Frame &amp;Back</source>
        <translation>Ein Bild &amp;zurück</translation>
    </message>
    <message>
        <source>One Frame O&amp;n</source>
        <translation>Ein Bild &amp;vor</translation>
    </message>
    <message>
        <source>Slo&amp;wer</source>
        <translation>&amp;Langsamer</translation>
    </message>
    <message>
        <source>F&amp;aster</source>
        <translation>Sc&amp;hneller</translation>
    </message>
    <message>
        <source>&amp;Loop</source>
        <translation>&amp;Schleife</translation>
    </message>
    <message>
        <source>M&amp;ute</source>
        <translation>Stu&amp;mm</translation>
    </message>
    <message>
        <source>Generate &amp;Next</source>
        <translation>Als &amp;Nächstes erzeugen</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Abbrechen</translation>
    </message>
    <message>
        <source>&amp;Force Stop</source>
        <translation>&amp;Sofort beenden</translation>
    </message>
    <message>
        <source>&amp;Start the Fleet</source>
        <translation>&amp;Verbund starten</translation>
    </message>
    <message>
        <source>&amp;Unload the Fleet</source>
        <translation>Verbund ent&amp;laden</translation>
    </message>
    <message>
        <source>S&amp;top the Fleet</source>
        <translation>Ver&amp;bund beenden</translation>
    </message>
</context>
<context>
    <name>WindowDialogs</name>
    <message>
        <source>Try the demo model</source>
        <translation>Demomodell ausprobieren</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <source>Where finished clips go</source>
        <translation>Wohin fertige Clips kommen</translation>
    </message>
    <message>
        <source>Clips made by Podium (*.mp4)</source>
        <translation>Clips von Podium (*.mp4)</translation>
    </message>
    <message>
        <source>Reuse a clip&apos;s parameters</source>
        <translation>Einstellungen eines Clips übernehmen</translation>
    </message>
    <message>
        <source>Reuse</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>Reuse “{0}”</source>
        <translation>„{0}“ übernehmen</translation>
    </message>
</context>
<context>
    <name>WipeView</name>
    <message>
        <source>Wipe between the two clips</source>
        <translation>Wischblende zwischen den zwei Clips</translation>
    </message>
    <message>
        <source>{0} percent</source>
        <translation>{0} Prozent</translation>
    </message>
</context>
</TS>
